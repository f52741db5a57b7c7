"""Who is spoken of as `she`, and who as `he`."""

from __future__ import annotations

from pathlib import Path

from sample.gathering import Merge

SOURCE = "genders"
_GENDER, _BIRTH = "P21", "P569"
_IDS = {"female": "Q6581072", "male": "Q6581097"}


def read_genders(path: Path, merge: Merge) -> None:
    """Say of everybody whose birth is dated whether it is a woman or a man, where nothing says so yet.

    A line of the file is `Qid⇥label⇥gender`: the women, those whose birth nothing dates, and with an empty gender those
    of whom it is not known. All others are men.
    """
    listed = {line.split("\t")[0]: line.split("\t")[2] for line in path.read_text("utf-8").splitlines()[1:]}
    known = {subject for subject, property, _ in (*merge.base, *merge.edges) if property == _GENDER}
    born = {entity for entity, property in (*merge.literals, *merge.days) if property == _BIRTH}
    for gender, id in _IDS.items():
        merge.names.setdefault(id, [gender])
    for entity in sorted((born | {id for id, gender in listed.items() if gender in _IDS}) - known):
        if gender := listed.get(entity, "male"):
            merge.add_edge(entity, _GENDER, _IDS[gender], SOURCE)
