"""Duels of any number, as a folder of Parquet files: ``python -m benchmarks.scale.made_duels``.

Each file is made from the seed and its own number alone, by as many processes as asked for, under a
temporary name that is changed at the end: a run that was stopped goes on with the files that are
missing. Arms have scores from N(0, 1), every ordered pair is as likely, a twentieth of the duels
are ties. Arms and outcomes are dictionary-encoded, compressed by zstd: about 2.8 bytes a duel of
1,000 arms.
"""

from pathlib import Path

import click

__all__ = ["PART", "make_duels"]

PART = 10_000_000  # rows of a file
GROUP = 1_000_000  # rows of a row group
TIES = 0.05


def make_duels(folder: Path, n_rows: int, n_arms: int, seed: int = 0, workers: int = 2) -> None:
    """Make the files of `folder` that are missing, the last one with the rest of `n_rows`."""
    from joblib import Parallel, delayed

    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        delayed(_make_part)(
            folder / f"part-{k:04}.parquet", min(PART, n_rows - k * PART), n_arms, seed, k
        )
        for k in range(-(-n_rows // PART))
    ]
    Parallel(workers)(jobs)


def _make_part(path: Path, n_rows: int, n_arms: int, seed: int, number: int) -> None:
    """Write one file, unless it is there."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return
    score = np.random.default_rng(seed).normal(size=n_arms)
    rng = np.random.default_rng([seed, number])
    arms = pa.array([f"model-{k:05}" for k in range(n_arms)])
    words = pa.array(["left", "right", "tie"])
    names = ["left", "right", "outcome"]
    kind = pa.dictionary(pa.int32(), pa.string())
    partial = path.with_suffix(".partial")
    with pq.ParquetWriter(
        partial, pa.schema([(n, kind) for n in names]), compression="zstd", use_dictionary=True
    ) as writer:
        for start in range(0, n_rows, GROUP):
            n = min(GROUP, n_rows - start)
            left = rng.integers(0, n_arms, n, dtype=np.int32)
            right = (left + rng.integers(1, n_arms, n, dtype=np.int32)) % n_arms
            won = rng.random(n) < 1 / (1 + np.exp(score[right] - score[left]))
            outcome = np.where(rng.random(n) < TIES, 2, np.where(won, 0, 1)).astype(np.int32)
            columns = [
                pa.DictionaryArray.from_arrays(left, arms),
                pa.DictionaryArray.from_arrays(right, arms),
                pa.DictionaryArray.from_arrays(outcome, words),
            ]
            writer.write_table(pa.Table.from_arrays(columns, names=names), row_group_size=GROUP)
    partial.rename(path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--rows", default=PART, show_default=True, help="Duels.")
@click.option("--arms", default=1000, show_default=True, help="Arms.")
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option("--workers", default=2, show_default=True, help="Processes.")
def main(folder: Path, rows: int, arms: int, seed: int, workers: int) -> None:
    """Make duels of ROWS rows in FOLDER."""
    make_duels(folder, rows, arms, seed, workers)
    files = sorted(folder.glob("*.parquet"))
    size = sum(file.stat().st_size for file in files)
    click.echo(f"{folder}: {len(files)} files, {size / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
