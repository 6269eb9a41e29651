"""Reads the calibration texts: blocks of questions and a passage, all in our own wording, none of them in any quality set."""
from pathlib import Path

FOLDER = Path(__file__).parent / "calibration"


def blocks() -> list[tuple[list[str], str]]:
    """(questions, passage) of every block of every file, files in name order."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        for block in "\n".join(lines).strip().split("\n\n"):
            questions, passage = block.split("\n--\n")
            found.append((questions.splitlines(), passage))
    return found


def pairs() -> list[tuple[str, str]]:
    """Each question with its passage, with a foreign one, with one sentence, and with a text as long as the model takes."""
    found = []
    texts = blocks()
    for at, (questions, passage) in enumerate(texts):
        foreign = texts[(at + 7) % len(texts)][1]
        for question in questions:
            found += [(question, passage), (question, foreign), (question, passage.split(". ")[0] + ".")]
        following = [texts[(at + step) % len(texts)][1] for step in range(1, 4)]
        found.append((questions[0], " ".join([passage, *following])))
    return found
