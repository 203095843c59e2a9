"""A fit as the package reads it: ``fit.duel``, an accessor that xarray keeps with the tree.

Model, arms and settings are parsed when they are first asked for; so are draws with another
covariance than that of the group ``posterior``.
"""

import json
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.data.items import Items
from bayesduel.data.reading import Reading
from bayesduel.data.teams import Teams
from bayesduel.inference.stretched import averaged, draws_in, stretched
from bayesduel.models import Model, model_from_settings
from bayesduel.models.settings import Arrays
from bayesduel.system.arguments import shown_value
from bayesduel.text import join

__all__ = ["SAMPLED", "DuelAccessor"]

SAMPLED = "posterior_sampled"  # group of the draws of the sampler, where answers are of others


@xr.register_datatree_accessor("duel")
class DuelAccessor:
    """The parts of a fit, parsed once.

    Parameters
    ----------
    fit
        A tree made by :func:`bayesduel.fit`.
    """

    def __init__(self, fit: xr.DataTree) -> None:
        self._fit = fit
        self._robust: dict[str, dict[str, np.ndarray]] = {}

    def __reduce__(self) -> Any:
        return DuelAccessor, (self._fit,)

    def __repr__(self) -> str:
        words = [name for name in dir(self) if not name.startswith("_")]
        model = self.model.name
        what = f"{model} of {len(self.arms):,} arms, {self.n_draws:,} draws"
        return f"<fit.duel: {what}; has {', '.join(words)}>"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the model, as they are stored."""
        found: dict[str, Any] = json.loads(self._fit.attrs["model_settings"])
        return found

    @cached_property
    def model(self) -> Model:
        """The model, made of its settings."""
        return self._model_of(self.settings)

    @property
    def asked(self) -> Model:
        """The model as it was asked for: what was read off the log is not written down."""
        asked = self._fit.attrs.get("model_asked")
        if asked is None:
            return self.model
        return self._model_of(json.loads(asked))

    def _model_of(self, settings: dict[str, Any]) -> Model:
        """Return the model of the fit with other settings."""
        fit = self._fit
        if "model" not in fit.attrs:
            raise ValueError("fit should be a tree made by bayesduel.fit, got one without a model")
        items = Items.from_dataset(fit["items"].dataset) if "items" in fit else None
        classes = json.loads(fit.attrs.get("model_classes", "{}"))
        description = {"name": fit.attrs["model"], "settings": settings, "classes": classes}
        return model_from_settings(description, items)

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """Labels of the arms."""
        labels = self._fit["posterior"].dataset["arm"].values
        return tuple(str(label) for label in labels)

    @cached_property
    def teams(self) -> Teams | None:
        """The sides of the log that was fitted, where these have several arms; else None."""
        if "constant_data" not in self._fit:
            return None
        design = self._fit["constant_data"].dataset
        if "members" not in design:
            return None
        return Teams(design["members"].to_numpy().copy())

    @cached_property
    def reading(self) -> Reading:
        """How the log of the fit was read."""
        attrs = self._fit.attrs
        if "understood" in attrs:
            return Reading.from_dict(json.loads(attrs["understood"]))
        return Reading(source=str(attrs.get("source", "a fit")))

    @property
    def n_draws(self) -> int:
        """Number of posterior draws, chains together."""
        sizes = self._fit["posterior"].sizes
        return int(sizes["chain"] * sizes["draw"])

    def covariance(self, asked: str = "auto") -> str:
        """Return the covariance that draws have: "model" or a clustering.

        Parameters
        ----------
        asked
            "model", a clustering of the fit ("judge", "group" or "judge and group"), or "auto": the
            clustering that covers all votes which the log repeats (the attribute ``clusters_auto``
            of the fit); "model" where there is none.

        Raises
        ------
        ValueError
            If it is not one of these or the fit has no such clustering.
        """
        fit = self._fit
        known = []
        if "clusters" in fit:
            known = list(fit["clusters"]["clustering"].to_numpy())
        allowed = ["auto", "model", *known]
        if not isinstance(asked, str) or asked not in allowed:
            rule = f"covariance should be {join(allowed, quote=True, word='or')}"
            why = "" if known else f". {self._why_not_clustered}"
            raise ValueError(f"{rule}, got {shown_value(asked)}{why}")
        if asked == "auto":
            return str(fit.attrs.get("clusters_auto", "model"))
        return asked

    @property
    def _why_not_clustered(self) -> str:
        """Why a fit has no covariance by judge or group, as a sentence without its full stop."""
        repeated = json.loads(self._fit.attrs.get("clusters_repeated", "{}"))
        reason = self._fit.attrs.get("clusters_reason", "")
        if not reason and repeated:
            reason = f"the model has effects by {join(repeated)}, or there is only one"
        if not reason:
            reason = "its log has no judge or group with two votes, or clusters=False was given"
        return f"The fit has no covariance by judge or group: {reason}"

    @property
    def standing(self) -> str:
        """The covariance that the draws of the group ``posterior`` have."""
        return str(self._fit["posterior"].attrs.get("covariance", "model"))

    @property
    def sampled(self) -> xr.Dataset:
        """The draws of the sampler: every vote independent, scores those of deviations of 0.

        The group ``posterior`` itself, or ``posterior_sampled`` where answers are read from others.
        """
        name = SAMPLED if SAMPLED in self._fit else "posterior"
        found: xr.Dataset = self._fit[name].to_dataset()
        return found

    def posterior(self, covariance: str = "auto") -> dict[str, np.ndarray]:
        """Return the parameters by name, draws first, chain after chain.

        Parameters
        ----------
        covariance
            See :meth:`covariance`. "auto": the group ``posterior`` as it is. With "model" every
            vote is independent. With a clustering, parameters are stretched around their mean so
            that their covariance is the cluster-robust one, with the tails of Student's t, learned
            scales apart.

        Raises
        ------
        ValueError
            If the fit has no such covariance.
        """
        used = self.covariance(covariance)
        if used == self.standing:
            return draws_in(self._fit["posterior"].to_dataset())
        return self.made(used)

    def made(self, covariance: str) -> dict[str, np.ndarray]:
        """Return the parameters with a covariance, made of the draws of the sampler."""
        own = draws_in(self.sampled)
        if covariance == "model":
            return self._averaged(own)
        if covariance not in self._robust:
            self._robust[covariance] = stretched(self._fit, self.model, own, covariance)
        return self._averaged(self._robust[covariance])

    def _averaged(self, draws: Arrays) -> dict[str, np.ndarray]:
        """Return the draws with overall scores as the attribute ``averaged_over`` says."""
        stored = self._fit.attrs.get("averaged_over", "{}")
        return averaged(draws, json.loads(stored))
