"""Policies by name."""

from typing import Any

from bayesduel.system.arguments import check_type, did_you_mean

__all__ = ["named"]


def named(name: str, **settings: Any) -> Any:
    """Return the policy of a class by its name.

    Parameters
    ----------
    name
        The name of a class in ``bayesduel.policies``, such as "DTS". ``bayesduel policies`` lists
        them.
    settings
        Arguments of the class.

    Raises
    ------
    ValueError
        If there is no such policy, or a setting is out of its range.
    TypeError
        If `name` is no text, or a setting is not one of the class's.

    Examples
    --------
    >>> bd.policies.named("DTS", alpha=0.6) == bd.policies.DTS(alpha=0.6)
    True
    """
    from bayesduel import policies

    check_type(name, str, "name", "the name of a policy")
    if name not in policies.__all__:
        raise ValueError(
            f"policies should be policies or their names, such as 'DTS', got {name!r}"
            f"{did_you_mean(name, policies.__all__) or '; `bayesduel policies` lists them'}"
        )
    return getattr(policies, name)(**settings)
