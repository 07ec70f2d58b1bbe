"""A leaderboard as CSV and as Markdown. Pure text; works nothing out."""

from __future__ import annotations

import csv
import io

from deepfact.leaderboard_records import Leaderboard, Overtaking, Standing
from deepfact.run_records import Estimate, Rate, ScoreSheet

COLUMNS = (
    "benchmark", "version", "rank", "verifier", "where", "n", "unverified", "missing", "reworded",
    "accuracy", "accuracy_low", "accuracy_high", "binary", "binary_low", "binary_high",
    "macro_f1", "macro_f1_low", "macro_f1_high",
)  # fmt: skip


def as_csv(board: Leaderboard) -> str:
    """One line for each verifier on each version, best first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for standing in ordered(board):
        row, sheet = board.rows[standing.row], standing.score
        scores = [
            "" if value is None else f"{value:.6f}"
            for one in (sheet.accuracy, sheet.binary, sheet.macro_f1)
            for value in (one.value, one.low, one.high)
        ]
        writer.writerow(
            [
                board.benchmark, standing.version, standing.rank, row.verifier,
                ";".join(row.where), sheet.n, sheet.unverified, sheet.missing,
                len(standing.reworded), *scores,
            ]
        )  # fmt: skip
    return text.getvalue()


def ordered(board: Leaderboard) -> list[Standing]:
    """The standings, version by version, best first."""
    return sorted(board.standings, key=lambda one: (one.version, one.rank, one.row))


def as_markdown(board: Leaderboard) -> str:
    """The tables and remarks for a page."""
    parts = [f"# Stored verifiers on {board.benchmark}\n", _standings(board)]
    if lines := change_lines(board):
        parts.append("## What changed labels did to the order\n\n" + "".join(
            f"- {_text(line)}\n" for line in lines
        ))  # fmt: skip
    if board.challengers:
        parts.append(_challengers(board))
    if board.notes:
        parts.append(
            "## Left out or not known\n\n" + "".join(f"- {_text(n)}\n" for n in board.notes)
        )
    return "\n".join(parts)


def _standings(board: Leaderboard) -> str:
    lines = [
        f"Ranked by {board.by}; brackets are 95 % intervals. Claims without a verdict count as "
        "wrong.\n\n",
        "| version | rank | verifier | accuracy | supported against the rest | macro-F1 |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for one in ordered(board):
        row = board.rows[one.row]
        cells = (
            str(one.version), str(one.rank), f"{row.verifier} ({', '.join(row.where)})",
            rate_words(one.score.accuracy), rate_words(one.score.binary),
            estimate_words(one.score.macro_f1),
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(_text, cells))} |\n")
    return "".join(lines)


def _challengers(board: Leaderboard) -> str:
    lines = [
        "## Challengers\n\nA challenger shapes the key it is scored on, so there are three scores "
        "(accuracy).\n\n",
        "| run | round | challenger | on B(t) | on B(t+1) | on B(t+1) without its own |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for one in board.challengers:
        cells = (one.run, str(one.round), one.verifier, *map(
            sheet_words, (one.before, one.after, one.without_own)
        ))  # fmt: skip
        lines.append(f"| {' | '.join(map(_text, cells))} |\n")
    return "".join(lines)


def sheet_words(sheet: ScoreSheet) -> str:
    """A sheet's accuracy with the version it is on."""
    version = sheet.on.partition(" without")[0]
    return f"{version}: {rate_words(sheet.accuracy)}"


def rate_words(rate: Rate) -> str:
    """A rate with everything that must be shown with it."""
    if rate.value is None:
        return "no claims (n=0)"
    open_ = f", {rate.unverified} unverified" if rate.unverified else ""
    return f"{rate.value:.1%} ({rate.k}/{rate.n}{open_}) [{rate.low:.1%}, {rate.high:.1%}]"


def estimate_words(estimate: Estimate) -> str:
    """A statistic with its interval and n."""
    if estimate.value is None:
        return "no claims (n=0)"
    interval = "no interval: one report"
    if estimate.low is not None and estimate.high is not None:
        interval = f"[{estimate.low:.3f}, {estimate.high:.3f}]"
    return f"{estimate.value:.3f} {interval} (n={estimate.n})"


def change_lines(board: Leaderboard) -> list[str]:
    """Every changed rank, then every pair whose order changed, with the claims that did it."""
    lines = [
        f"{name_of(board, one.row)}: rank {one.rank_before} on version {one.before}, "
        f"{one.rank_after} on version {one.after}"
        for one in board.changes
    ]
    return lines + [_overtaking_line(board, one) for one in board.overtakings]


def name_of(board: Leaderboard, row: int) -> str:
    """A verifier, with where its verdicts are when two rows have one name."""
    same = [one for one in board.rows if one.verifier == board.rows[row].verifier]
    where = f" ({', '.join(board.rows[row].where)})" if len(same) > 1 else ""
    return f"{board.rows[row].verifier}{where}"


def _overtaking_line(board: Leaderboard, one: Overtaking) -> str:
    causes = [
        f"{cause.claim_id} ({cause.before or 'no label'} -> {cause.after or 'no label'}, "
        f"{cause.first:+d})"
        for cause in one.causes
    ]
    measure = "accuracy" if board.by == "macro-f1" else board.by
    return (
        f"{name_of(board, one.first)} against {name_of(board, one.other)}, {measure}: "
        f"{lead_words(one.lead_before)} on version {one.before}, "
        f"{lead_words(one.lead_after)} on version {one.after}; "
        f"by {', '.join(causes) or 'no single claim'}"
    )


def lead_words(lead: Estimate) -> str:
    """A difference in points, with its paired interval."""
    if lead.value is None or lead.low is None or lead.high is None:
        return "no claims (n=0)"
    return (
        f"{100 * lead.value:+.1f} points [{100 * lead.low:+.1f}, {100 * lead.high:+.1f}] "
        f"(n={lead.n})"
    )


def _text(words: str) -> str:
    """Text that cannot leave its cell or line, nor become markup."""
    flat = " ".join(words.split())
    for mark in "\\|<>[]*_`":
        flat = flat.replace(mark, f"\\{mark}")
    return flat
