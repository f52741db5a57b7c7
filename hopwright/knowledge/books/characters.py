"""Who is who: the names of persons, gathered into characters by their titles, given names and surnames.

The rules are those of novels of the time. "Mr. S", "Colonel S" and a bare "S" are the one man of the family S who is
not told apart by his given name; "Mrs. S" and "Miss S" are others. A form that may mean several characters belongs to
all of them, and proves nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from hopwright.knowledge.books.name_words import Gender, NameWords
from hopwright.knowledge.books.scanning import PARTICLES, NameKind, Phrase

Form = tuple[str, str]
"""The last title (empty without one) and the other words of a phrase."""


@dataclass(slots=True)
class Character:
    """A character: given name and surname as far as they are known, and how often each sure form occurs."""

    given: str
    surname: str
    gender: Gender
    forms: Counter[Form] = field(default_factory=Counter)

    @property
    def mentions(self) -> int:
        """How often it is surely named."""
        return self.forms.total()


@dataclass(slots=True)
class Cast:
    """The characters of a book, and whom each form may mean: one character, or several."""

    characters: list[Character]
    meanings: dict[Form, tuple[int, ...]]


def form_of(phrase: Phrase) -> Form:
    """The form in which a phrase names somebody."""
    return (phrase.titles[-1] if phrase.titles else "", " ".join(phrase.words))


def gather_cast(phrases: Iterable[Phrase], kinds: dict[str, NameKind], words: NameWords) -> Cast:
    """Gather the persons' names of a book into characters."""
    forms: Counter[Form] = Counter()
    for phrase in phrases:
        form = form_of(phrase)
        if form[0] or kinds.get(form[1]) == "person":
            forms[form] += 1
    return _Gathering(forms, words).gather()


def find_singular(name: str) -> str:
    """The surname of "the Bennets" or "the Lucases"; empty for a name that is no plural."""
    last = _core(name)[-1] if _core(name) else ""
    if last.endswith(("ses", "xes", "zes", "ches")):
        return last.removesuffix("es")
    return last.removesuffix("s") if last.endswith("s") and len(last) > 4 else ""


def _core(name: str) -> list[str]:
    return [word for word in name.split() if word not in PARTICLES]


_RANKS = frozenset(
    "Colonel Captain General Major Lieutenant Sergeant Inspector Superintendent Admiral Dr Professor Judge Mrs".split()
)
"""Titles that stand before a surname alone."""
_MANY = 10
"""So many times as often by the given name as by the surname: then the surname may be an elder's."""
_FEW = 4


class _Gathering:
    """One pass over the forms of a book."""

    def __init__(self, forms: Counter[Form], words: NameWords) -> None:
        self._forms = forms
        self._words = words
        self._people: list[Character] = []
        self._meanings: dict[Form, tuple[int, ...]] = {}
        self._full: dict[tuple[str, str], int] = {}
        self._by_given: dict[str, list[int]] = defaultdict(list)
        self._family: dict[str, list[int]] = defaultdict(list)
        self._doubtful: set[int] = set()

    def gather(self) -> Cast:
        """Take the forms in, the fullest first: what is left is read in the light of what is known."""
        totals: Counter[str] = Counter()
        for (_, name), count in self._forms.items():
            totals[name] += count
        plural = {name for name in totals if totals[find_singular(name)] >= totals[name]}
        self._forms = Counter({form: count for form, count in self._forms.items() if form[1] not in plural})
        order = sorted(self._forms, key=lambda form: (-self._forms[form], form))
        full = [form for form in order if len(_core(form[1])) > 1]
        for form in full:
            self._take_full(form)
        self._surnames = {person.surname for person in self._people if person.surname}
        single = [form for form in order if len(_core(form[1])) == 1]
        self._surnames |= {self._key(name) for title, name in single if self._is_surname(title, self._key(name))}
        rest = [form for form in single if self._key(form[1]) in self._surnames]
        givens = [form for form in single if self._key(form[1]) not in self._surnames]
        # Whole names before short ones, so that a short one finds its whole.
        for form in sorted(givens, key=lambda form: self._key(form[1]) in self._words.short):
            self._take_given(form)
        for form in sorted(rest, key=self._rank):
            self._take_surname(form)
        for form, people in self._meanings.items():
            if len(people) == 1:
                self._people[people[0]].forms[form] += self._forms[form]
        return Cast(self._people, self._meanings)

    def _key(self, name: str) -> str:
        return _core(name)[-1]

    def _add(self, form: Form, given: str, surname: str, gender: Gender) -> int:
        number = len(self._people)
        self._people.append(Character(given, surname, gender))
        if given:
            self._by_given[given].append(number)
        if surname:
            self._family[surname].append(number)
        self._meanings[form] = (number,)
        return number

    def _gender(self, title: str, given: str) -> Gender:
        return self._words.gender_of_title(title) or self._words.gender_of_given(given)

    def _fits(self, number: int, gender: Gender) -> bool:
        own = self._people[number].gender
        return not own or not gender or own == gender

    def _take_full(self, form: Form) -> None:
        title, name = form
        core = _core(name)
        given, surname = core[0], core[-1]
        gender = self._gender(title, given)
        whole = self._words.short.get(given, given)
        for key in ((given, surname), (whole, surname)):
            if key in self._full and self._fits(self._full[key], gender):
                number = self._full[key]
                self._meanings[form] = (number,)
                if number not in self._by_given[given]:
                    self._by_given[given].append(number)
                return
        for (other, family), number in self._full.items():
            short = self._words.short.get(other)
            if family == surname and short == given and self._fits(number, gender):
                self._meanings[form] = (number,)
                self._full[(given, surname)] = number
                self._by_given[given].append(number)
                return
        self._full[(given, surname)] = self._add(form, given, surname, gender)

    def _is_surname(self, title: str, name: str) -> bool:
        if title in _RANKS and self._forms[(title, name)] > 1:
            return True
        if name in self._by_given or title in ("", "Sir", "Uncle", "Aunt", "Sister", "Brother", "Master"):
            return False
        if title in ("Lady", "Miss", "King", "Queen", "Prince", "Princess") and self._words.gender_of_given(name):
            return False
        bare = self._forms[("", name)]
        return not (self._words.gender_of_given(name) and bare > self._forms[(title, name)])

    def _take_given(self, form: Form) -> None:
        title, name = form
        key = self._key(name)
        gender = self._gender(title, key)
        found = [number for number in self._by_given.get(key, []) if self._fits(number, gender)]
        whole = self._words.short.get(key, "")
        # A Kitty is no short form of one who is only ever called Lady Catherine.
        if not found and whole and 3 * self._forms[("", whole)] >= self._weigh_given(whole):
            found = [number for number in self._by_given.get(whole, []) if self._fits(number, gender)]
        if len(found) == 2 and self._are_one_woman(*found):
            self._join(*found)
            found = found[:1]
        if len(found) > 1 and self._forms[("", key)] >= 8 * sum(map(self._weigh, found)):
            # Hardly ever called anything but this one name, as Milady is.
            for other in found[1:]:
                self._join(found[0], other)
            found = found[:1]
        if found:
            self._meanings[form] = self._prefer(found, key)
            return
        self._add(form, key, "", gender)

    def _weigh_given(self, name: str) -> int:
        return sum(count for (_, words), count in self._forms.items() if words.split()[0] == name)

    def _are_one_woman(self, one: int, other: int) -> bool:
        """Whether two women of one given name are the same before and after she married."""
        pair = [self._people[one], self._people[other]]
        wives = [
            self._forms[("Mrs", person.surname)] > 0 and not self._forms[("Miss", person.surname)] for person in pair
        ]
        return all(person.gender == "female" and person.surname for person in pair) and sum(wives) == 1

    def _join(self, one: int, other: int) -> None:
        for form, people in self._meanings.items():
            if people == (other,):
                self._meanings[form] = (one,)
        for numbers in (*self._by_given.values(), *self._family.values()):
            if other in numbers:
                numbers.remove(other)
                if one not in numbers:
                    numbers.append(one)

    def _prefer(self, found: list[int], given: str) -> tuple[int, ...]:
        """One character where all others of that given name hardly occur, else all of them."""
        weight = {number: self._weigh(number) for number in found}
        first = max(found, key=lambda number: (weight[number], -number))
        rest = sum(weight.values()) - weight[first]
        return (first,) if weight[first] >= 8 * max(rest, 1) or len(found) == 1 else tuple(sorted(found))

    def _weigh(self, number: int) -> int:
        return sum(self._forms[form] for form, people in self._meanings.items() if people == (number,))

    def _rank(self, form: Form) -> tuple[int, int, Form]:
        """Titles that say most first, bare surnames last."""
        title = form[0]
        if title in self._words.unmarried:
            place = 2
        elif title in self._words.married:
            place = 1
        else:
            place = 0 if title else 3
        return place, -self._forms[form], form

    def _take_surname(self, form: Form) -> None:
        title, name = form
        key = self._key(name)
        family = self._family[key]
        words = self._words
        if title in words.male_titles or title in words.either_titles:
            gender = words.gender_of_title(title)
            titled = [one for one in family if self._is_bare(one, "male") and self._fits(one, gender)]
            named = [one for one in family if self._is_named(one, "male") and self._fits(one, gender)]
            found = titled or [one for one in named if not self._told_apart(one)]
            if not titled and len(found) == 1 and self._is_doubtful(form, found[0]):
                self._leave_open(form, found[0], words.gender_of_title(title))
                return
        elif title in words.unmarried:
            found = [one for one in family if self._people[one].gender == "female" and not self._is_married(one)]
        elif title in words.female_titles:
            found = [one for one in family if self._people[one].gender == "female" and self._is_wife(one, title)]
            if len(found) == 1 and not self._is_titled(found[0], title):
                if self._is_doubtful(form, found[0]):
                    self._leave_open(form, found[0], "female")
                    return
                if self._count_whole(found[0]) == 1 and self._forms[form] > _FEW:
                    found = []  # once called by both names, and not by this title: a daughter may be meant by them
        else:
            self._take_bare(form, family)
            return
        if len(found) == 1:
            self._meanings[form] = (found[0],)
            return
        if len(found) > 1:
            self._meanings[form] = tuple(found)
            return
        self._add(form, "", key, words.gender_of_title(title))

    def _take_bare(self, form: Form, family: list[int]) -> None:
        men = [one for one in family if self._people[one].gender != "female"]
        titled = [one for one in men if self._is_bare(one, "male")]
        if self._doubtful & set(family):
            self._meanings[form] = tuple(sorted(men))
        elif len(family) == 1 or len(men) == 1:
            self._meanings[form] = ((men or family)[0],)
        elif len(titled) == 1:
            self._meanings[form] = (titled[0],)
        elif family:
            self._meanings[form] = tuple(sorted(family))
        else:
            self._add(form, "", self._key(form[1]), "")

    def _is_doubtful(self, form: Form, number: int) -> bool:
        """Whether a title and surname may mean an elder of the one that is known by both names.

        So it is where he is told apart by his given name, "Mr. G S", half as often or more; and where he is called by
        that name so much more often that whoever is called by the surname may be another.
        """
        person = self._people[number]
        told = self._forms[(form[0], f"{person.given} {person.surname}")]
        given = sum(
            count
            for (_, name), count in self._forms.items()
            if _core(name)[0] == person.given and (len(_core(name)) == 1 or _core(name)[-1] == person.surname)
        )
        return told * 2 > self._forms[form] or self._forms[form] * _MANY < given

    def _leave_open(self, form: Form, number: int, gender: Gender) -> None:
        """The form means the one who is known, or somebody else of the family."""
        other = self._add(form, "", self._people[number].surname, gender)
        self._doubtful.add(other)
        self._meanings[form] = tuple(sorted((number, other)))

    def _is_titled(self, number: int, title: str) -> bool:
        """Whether this title stands before the whole name of somebody."""
        person = self._people[number]
        return self._forms[(title, f"{person.given} {person.surname}")] > 0

    def _count_whole(self, number: int) -> int:
        person = self._people[number]
        return sum(
            count
            for (_, name), count in self._forms.items()
            if _core(name)[0] == person.given and _core(name)[-1] == person.surname
        )

    def _is_bare(self, number: int, gender: Gender) -> bool:
        person = self._people[number]
        return person.gender in (gender, "") and not person.given

    def _is_named(self, number: int, gender: Gender) -> bool:
        person = self._people[number]
        return person.gender in (gender, "") and bool(person.given)

    def _told_apart(self, number: int) -> bool:
        """Whether his wife has his given name, "Mrs. John S": then "Mr. S" is his elder."""
        person = self._people[number]
        return self._forms[("Mrs", f"{person.given} {person.surname}")] > 0

    def _is_married(self, number: int) -> bool:
        forms = [form for form, people in self._meanings.items() if people == (number,)]
        return any(title in self._words.married for title, _ in forms)

    def _is_wife(self, number: int, title: str) -> bool:
        """Whether "Mrs. S" may be this woman: so called by her given name, or the only woman of the name."""
        person = self._people[number]
        forms = [form for form, people in self._meanings.items() if people == (number,)]
        if any(held == title for held, _ in forms):
            return True
        women = [one for one in self._family[person.surname] if self._people[one].gender == "female"]
        misses = any(self._forms[(miss, person.surname)] for miss in self._words.unmarried)
        return women == [number] and not misses and bool(person.given)
