"""Votes of people and verdicts of two machines on real answers: predictions of held-out votes.

``python -m benchmarks.llmfao VOTES.csv VERDICTS.csv`` reads the votes and the verdicts of LLMFAO
(github.com/dustalov/llmfao, as CSV with the columns left, right, outcome, annotator and pair_id)
and prints the log loss of held-out votes of people by number of votes known, with and without the
machines. Half of the pair-and-prompt units are held out; a split is kept as soon as it is measured,
and a run that was stopped goes on.

``python -m benchmarks.llmfao VOTES.csv --prompts`` holds out one prompt at a time, which takes
about a minute: by the default model, with and without its effects of arms by prompt.
"""

import json
import warnings
from pathlib import Path

import click
import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.models import BradleyTerry, Scores, SideAdvantage, Sources
from benchmarks.validation.page import table_of

SIZES = (200, 400, 800, 1600)
WAYS: dict[str, tuple[str, ...]] = {
    "people alone": (),
    "with GPT-3.5": ("gpt-3.5",),
    "with GPT-4": ("gpt-4",),
    "with both": ("gpt-3.5", "gpt-4"),
    "pooled with GPT-4": ("gpt-4",),
}
DRAWS = 1000
RULES = {
    "without effects by prompt": bd.DefaultModel(group_effects=False),
    "default": bd.DefaultModel(group_effects=True),
}


def log_loss(fit, held: pd.DataFrame) -> float:
    """Return the mean log loss of held-out votes, a tie being half a vote for each side."""
    arms = list(fit["posterior"]["arm"].to_numpy())
    score = fit["posterior"]["score"].to_numpy().reshape(-1, len(arms))
    i, j = (np.array([arms.index(a) for a in held[side]]) for side in ("left", "right"))
    chance = (1 / (1 + np.exp(score[:, j] - score[:, i]))).mean(axis=0)
    points = held["outcome"].map({"left": 1.0, "right": 0.0, "tie": 0.5}).to_numpy()
    return float(-(points * np.log(chance) + (1 - points) * np.log(1 - chance)).mean())


def split_of(votes: pd.DataFrame, verdicts: pd.DataFrame, split: int) -> list[dict]:
    """Return the log loss of one split by number of votes and way."""
    rng = np.random.default_rng(split)
    units = votes["pair_id"].unique()
    out = votes["pair_id"].isin(rng.choice(units, len(units) // 2, replace=False))
    held, known = votes[out], votes[~out].iloc[rng.permutation(int((~out).sum()))]
    arms = sorted({*votes["left"], *votes["right"]})
    found = []
    for n in (*SIZES, len(known)):
        for way, machines in WAYS.items():
            more = verdicts[verdicts["annotator"].isin(machines)]
            table = pd.concat([known.head(n).assign(annotator="people"), more])
            pooled = way.startswith("pooled") or not machines
            terms = Scores() + SideAdvantage()
            if not pooled:
                terms = Sources("source", target="people") + SideAdvantage(by="source")
            log = bd.Duels.from_votes(
                table["left"],
                table["right"],
                table["outcome"].map({"left": 1.0, "right": 0.0, "tie": 0.5}),
                keep=None if pooled else {"source": table["annotator"]},
                arms=arms,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # few votes an arm, which is the point
                fit = bd.fit(log, BradleyTerry(terms), draws=DRAWS, seed=split, clusters=False)
            correlation = np.nan
            if not pooled and len(machines) == 1:
                correlation = float(bd.sources(fit).table.loc[machines[0], "correlation"])
            row = {"split": split, "votes": n, "way": way, "loss": log_loss(fit, held)}
            found.append(row | {"correlation": correlation})
    return found


def loss_of_prompt(votes: pd.DataFrame, prompt: str) -> dict:
    """Return the log loss of the votes on a prompt, by fits to those on all others."""
    of_prompt = votes["context"] == prompt
    held = votes[of_prompt]
    log = read(votes[~of_prompt])
    counts = pd.get_dummies(held["outcome"])[["left", "tie", "right"]].to_numpy(float)
    seated = {
        "first": np.array([log.arms.index(arm) for arm in held["left"]]),
        "second": np.array([log.arms.index(arm) for arm in held["right"]]),
        "left_first": np.ones(len(held)),
    }
    row = {"prompt": prompt, "votes": len(held)}
    for way, rule in RULES.items():
        fit = bd.fit(log, rule, draws=DRAWS, log_likelihood=False)
        model = fit.duel.model
        outcomes = model.outcomes(fit.duel.posterior(), seated)
        chances = np.stack([outcomes[name].mean(axis=0) for name in ("win", "tie", "loss")], axis=1)
        row[way] = float(-(counts * np.log(chances)).sum() / len(held))
    return row


def read(votes: pd.DataFrame) -> bd.Duels:
    """Return a log of votes whose prompts are groups."""
    return bd.read_duels(votes, judge="annotator", group="context", ties="keep")


def losses_of_prompts(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the log loss of each prompt, and of all votes."""
    rows = []
    for prompt in sorted(votes["context"].unique()):
        rows.append(loss_of_prompt(votes, prompt))
        click.echo(f"prompt {prompt}", err=True)
    frame = pd.DataFrame(rows)
    mean = {way: float(np.average(frame[way], weights=frame["votes"])) for way in RULES}
    whole = pd.DataFrame([{"prompt": "all", "votes": frame["votes"].sum(), **mean}])
    shown = dict.fromkeys(RULES, "{:.4f}".format)
    return pd.concat([frame, whole]).transform({"prompt": str, "votes": "{:,}".format} | shown)


def losses_of(rows: list[dict]) -> pd.DataFrame:
    """Return the mean loss by votes and way, with the 95 % interval over splits."""
    frame = pd.DataFrame(rows)
    frame["votes"] = frame["votes"].where(frame["votes"].isin(SIZES), "all")
    by = frame.groupby(["votes", "way"], sort=False)["loss"]
    spread = 1.96 * by.std() / np.sqrt(by.size())
    shown = by.mean().map("{:.4f}".format) + " ± " + spread.map("{:.4f}".format)
    table = shown.unstack("way").reindex(index=[*SIZES, "all"], columns=[*WAYS])
    found = frame.groupby(["votes", "way"])["correlation"].mean().unstack("way")
    table["correlation with GPT-4"] = found["with GPT-4"].map("{:.2f}".format)
    return table


@click.command()
@click.argument("votes", type=click.Path(exists=True, path_type=Path))
@click.argument("verdicts", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--prompts", is_flag=True, help="Hold out one prompt at a time, of VOTES alone.")
@click.option("--splits", default=20, show_default=True)
@click.option("--records", default=".validation/llmfao.jsonl", type=click.Path(path_type=Path))
def main(votes: Path, verdicts: Path | None, prompts: bool, splits: int, records: Path) -> None:
    """Print the log loss of held-out votes of people."""
    human = pd.read_csv(votes)
    if prompts:
        click.echo(table_of(losses_of_prompts(human).to_dict("records")))
        return
    if verdicts is None:
        raise click.UsageError("VERDICTS should be a file of verdicts, or --prompts be given.")
    machine = pd.read_csv(verdicts)
    arms = {*human["left"], *human["right"]}
    machine = machine[machine["left"].isin(arms) & machine["right"].isin(arms)]
    lines = records.read_text(encoding="utf-8").splitlines() if records.exists() else []
    rows = [row for line in lines for row in json.loads(line)]
    done = {row["split"] for row in rows}
    records.parent.mkdir(exist_ok=True)
    for split in sorted(set(range(splits)) - done):
        found = split_of(human, machine, split)
        with records.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        rows += found
        click.echo(f"split {split}", err=True)
    click.echo(table_of(losses_of(rows).reset_index(names="votes of people").to_dict("records")))


if __name__ == "__main__":
    main()
