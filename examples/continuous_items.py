"""Items from a continuous set: BoTorch finds where the best may be, a study decides between these.

Run with ``python examples/continuous_items.py`` (a minute). A drink has a sweetness and a strength,
each from 0 to 1, and tasters compare two at a time. BoTorch's Gaussian process on duels proposes
recipes; the best of those that were tasted become the arms of a study, which stops as soon as one
of them is known to be about as good as any. Needs ``pip install botorch`` as well.
"""

import warnings

import numpy as np

import bayesduel as bd

DUELS = 24  # for finding recipes
FINALISTS = 4


def utility(recipe: np.ndarray) -> float:
    """Return how good a recipe is to the tasters, in logits; best at (0.6, 0.3)."""
    sweetness, strength = recipe
    return float(4 - 16 * (sweetness - 0.6) ** 2 - 12 * (strength - 0.3) ** 2)


def first_is_better(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> bool:
    """Return whether a taster prefers the first recipe."""
    return bool(rng.random() < 1 / (1 + np.exp(utility(second) - utility(first))))


def found(rng: np.random.Generator) -> np.ndarray:
    """Return the recipes that BoTorch proposed and believes the best, (FINALISTS, 2)."""
    import torch
    from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood
    from botorch.optim import optimize_acqf

    torch.manual_seed(int(rng.integers(2**31)))
    recipes, duels = rng.random((2, 2)), []
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    while True:
        first, second = len(recipes) - 2, len(recipes) - 1
        won = first_is_better(recipes[first], recipes[second], rng)
        duels.append([first, second] if won else [second, first])  # the winner first
        model = PairwiseGP(torch.as_tensor(recipes), torch.as_tensor(duels))
        fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
        if len(duels) == DUELS:
            break
        gain = AnalyticExpectedUtilityOfBestOption(pref_model=model)
        pair, _ = optimize_acqf(gain, bounds, q=2, num_restarts=4, raw_samples=64)
        recipes = np.vstack([recipes, pair.numpy()])
    believed = model.posterior(torch.as_tensor(recipes)).mean.detach().numpy().ravel()
    return recipes[np.argsort(-believed)[:FINALISTS]]


def main(seed: int = 0) -> bd.Study:
    """Find recipes, decide between them, and return the study."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, on what it will change
        finalists = found(rng)
    recipes = {f"sweetness {a:.2f}, strength {b:.2f}": np.array([a, b]) for a, b in finalists}
    study = bd.Study(arms=list(recipes), stop=bd.study.WithinRope(0.95, rope=0.1), seed=seed)
    while not study.stopped:
        ticket = study.ask()
        won = first_is_better(recipes[ticket.left], recipes[ticket.right], rng)
        study.tell(ticket, "left" if won else "right")
    print(study.status())
    return study


if __name__ == "__main__":
    main()
