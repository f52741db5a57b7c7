"""What an agent finds that is asked about pictures: what similar pictures show, and passages.

The pictures of the question are compared with every picture of a store, so the same picture is found again after it was
resized or encoded anew. With a folder of another model's vectors these are compared instead, the question's pictures by
the vectors that they have there.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.environments.task import FoundPassage
from hopwright.environments.tools import PassageFinder
from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.images.searching import FoundImage, ImageSearcher
from hopwright.knowledge.images.store import PictureStore


class PictureFinder:
    """Finds for one question: `pictures` are its own, in order, as PNG or any format that is drawn."""

    def __init__(self, searcher: ImageSearcher, pictures: Sequence[bytes], passages: PassageFinder) -> None:
        self._searcher = searcher
        self._pictures = tuple(pictures)
        self.passages = passages

    def look_up(self, image: int, most: int) -> list[FoundPassage]:
        """See PictureLooker. A picture that is like nothing known gives nothing."""
        if not 1 <= image <= len(self._pictures):
            raise InputError(f"the question has {len(self._pictures)} pictures, the first is 1")
        found = self._searcher.search_known(self._pictures[image - 1], most)
        return [tell_found(one) for one in found]

    def search(self, query: str, most: int) -> Sequence[FoundPassage]:
        """See PassageFinder."""
        return self.passages.search(query, most)

    def read(self, id: str) -> FoundPassage:
        """See PassageFinder."""
        return self.passages.read(id)


class PictureLibrary:
    """Finds for all questions about the pictures of a store: passages itself, pictures by what `of` gives."""

    def __init__(self, store: PictureStore, passages: PassageFinder) -> None:
        self.store = store
        self._searcher = ImageSearcher(store)
        self._passages = passages
        self._read: dict[str, bytes] = {}

    def of(self, media: Sequence[str]) -> PictureFinder:
        """The finder of a question with these pictures, in order. Raises InputError for one that is not there."""
        return PictureFinder(self._searcher, [self.read_png(one) for one in media], self._passages)

    def read_png(self, media: str) -> bytes:
        """The PNG of a picture, read once for all questions. Raises InputError for a SHA-256 of none."""
        if media not in self._read:
            if self.store.of_media(media) is None:
                raise InputError(f"{self.store.folder}: there is no picture {show(media)}")
            self._read[media] = self.store.read_png(media)
        return self._read[media]

    def search(self, query: str, most: int) -> Sequence[FoundPassage]:
        """See PassageFinder."""
        return self._passages.search(query, most)

    def read(self, id: str) -> FoundPassage:
        """See PassageFinder."""
        return self._passages.read(id)


def tell_found(found: FoundImage) -> FoundPassage:
    """A picture that was found, as an agent is told of it; its document is the id by which items cite the picture."""
    picture = found.picture
    sure = "the same picture" if found.sure else "a similar picture"
    text = f"The {picture.kind} of {picture.label}; {sure} (distance {found.distance:.2f})."
    return FoundPassage(picture.document, picture.label, text, picture.document, 0, len(text))
