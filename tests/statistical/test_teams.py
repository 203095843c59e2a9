"""Members of teams: intervals of their scores hold what they say."""

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.models import BradleyTerry, Davidson, RandomEffects, SideAdvantage, TeamSize
from tests.support.teams import doubles, judged, systems, teams_of_any_size

# Recipe of a world and the model that drew it, but for the scale of the scores, which is learned.
WORLDS = {
    "doubles": (doubles, BradleyTerry()),
    "teams of 2 to 5": (teams_of_any_size, BradleyTerry() + TeamSize()),
    "model and prompt": (systems, BradleyTerry() + SideAdvantage()),
    "ties, order, judges": (judged, Davidson() + SideAdvantage() + RandomEffects("judge")),
}
LEVEL = 0.9
each_world = pytest.mark.parametrize(("recipe", "model"), WORLDS.values(), ids=WORLDS.keys())


def covered(recipe, model, seed):
    """Return the share of members whose interval holds their score, about their group's mean."""
    world = recipe(seed)
    fit = bd.fit(world.log, model, draws=400, seed=seed, log_likelihood=False)
    drawn = fit.duel.posterior("model")["score"]
    inside = []
    for group in world.groups:
        place = [world.log.arms.index(arm) for arm in group]
        truth = np.array([world.score[arm] for arm in group])
        own = drawn[:, place] - drawn[:, place].mean(axis=1, keepdims=True)
        low, high = np.quantile(own, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
        inside += list((low <= truth - truth.mean()) & (truth - truth.mean() <= high))
    return float(np.mean(inside))


@pytest.mark.sampled(2)
@each_world
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_members_are_recovered(recipe, model):
    """Two worlds: a wrong sign, a member that is left out or a side counted twice would show."""
    shares = [covered(recipe, model, seed) for seed in range(2)]
    # So few or fewer of the members are held by chance with probability 1e-6, by the binomial law.
    n_members = 2 * len(recipe(0).score)
    assert np.mean(shares) * n_members >= stats.binom.ppf(1e-6, n_members, LEVEL)


@pytest.mark.slow
@each_world
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_intervals_of_members_hold_nominally(recipe, model):
    """Two hundred worlds: within five standard errors of the level, worlds being independent."""
    shares = np.array([covered(recipe, model, seed) for seed in range(100, 300)])
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    print(f"{shares.mean():.3f} (standard error {error:.3f})")
    assert abs(shares.mean() - LEVEL) < 5 * error
