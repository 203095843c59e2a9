"""The order of arms that the majorities of a log contradict least, found by moving arms."""

from bayesduel.jit import compiled

__all__ = ["reordered"]

SWEEPS = 50


@compiled
def reordered(order, gain):
    """Return an order that no move of a single arm improves, starting from `order`.

    Parameters
    ----------
    order
        Arms, best first, shape (K,).
    gain
        What placing i anywhere above j is worth, antisymmetric, shape (K, K).

    Returns
    -------
    Arms, best first, shape (K,): a local maximum of the sum of gains.
    """
    order = order.copy()
    n_arms = len(order)
    for _ in range(SWEEPS):
        moved = False
        for arm in range(n_arms):
            at = 0
            while order[at] != arm:
                at += 1
            best, target, worth = 1e-9, at, 0.0
            for k in range(at - 1, -1, -1):  # upwards, past order[k]
                worth += 2 * gain[arm, order[k]]
                if worth > best:
                    best, target = worth, k
            worth = 0.0
            for k in range(at + 1, n_arms):  # downwards
                worth += 2 * gain[order[k], arm]
                if worth > best:
                    best, target = worth, k
            if target != at:
                moved = True
                step = 1 if target > at else -1
                for k in range(at, target, step):
                    order[k] = order[k + step]
                order[target] = arm
        if not moved:
            break
    return order
