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
        # By the short name of the given one and the surname, the given names with whom they are.
        self._full_by_short: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        # Numbers in the order in which they came.
        self._by_given: dict[str, dict[int, None]] = defaultdict(dict)
        self._family: dict[str, dict[int, None]] = defaultdict(dict)
        self._held_in: dict[int, list[dict[int, None]]] = defaultdict(list)
        self._own: dict[int, dict[Form, None]] = defaultdict(dict)
        self._weights: Counter[int] = Counter()
        self._doubtful: set[int] = set()

    def gather(self) -> Cast:
        """Take the forms in, the fullest first: what is left is read in the light of what is known."""
        totals: Counter[str] = Counter()
        for (_, name), count in self._forms.items():
            totals[name] += count
        bearers = {_core(name)[-1] for _, name in self._forms if len(_core(name)) > 1}
        titled = {name for title, name in self._forms if title}
        plural = {
            name for name in totals
            if totals[find_singular(name)] >= totals[name] or (find_singular(name) in bearers and name not in titled)
        }  # fmt: skip
        self._forms = Counter({form: count for form, count in self._forms.items() if form[1] not in plural})
        self._count_words()
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

    def _count_words(self) -> None:
        """How often names begin with a word, consist of one, and begin and end with two."""
        self._first: Counter[str] = Counter()
        self._alone: Counter[str] = Counter()
        self._whole: Counter[tuple[str, str]] = Counter()
        self._single: dict[str, Counter[str]] = defaultdict(Counter)
        for (title, name), count in self._forms.items():
            self._first[name.split()[0]] += count
            core = _core(name)
            if len(core) == 1:
                self._alone[core[0]] += count
                self._single[core[0]][title] += count
            elif core:
                self._whole[core[0], core[-1]] += count

    def _key(self, name: str) -> str:
        return _core(name)[-1]

    def _mean(self, form: Form, *people: int) -> None:
        """Say whom a form means: one, or several."""
        before = self._meanings.get(form, ())
        if len(before) == 1:
            del self._own[before[0]][form]
            self._weights[before[0]] -= self._forms[form]
        self._meanings[form] = people
        if len(people) == 1:
            self._own[people[0]][form] = None
            self._weights[people[0]] += self._forms[form]

    def _hold(self, numbers: dict[int, None], number: int) -> None:
        if number not in numbers:
            numbers[number] = None
            self._held_in[number].append(numbers)

    def _add(self, form: Form, given: str, surname: str, gender: Gender) -> int:
        number = len(self._people)
        self._people.append(Character(given, surname, gender))
        if given:
            self._hold(self._by_given[given], number)
        if surname:
            self._hold(self._family[surname], number)
        self._mean(form, number)
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
                self._mean(form, number)
                self._hold(self._by_given[given], number)
                return
        for number in self._full_by_short[given, surname].values():
            if self._fits(number, gender):
                self._mean(form, number)
                self._keep_full(given, surname, number)
                self._hold(self._by_given[given], number)
                return
        self._keep_full(given, surname, self._add(form, given, surname, gender))

    def _keep_full(self, given: str, surname: str, number: int) -> None:
        self._full[given, surname] = number
        if short := self._words.short.get(given):
            self._full_by_short[short, surname][given] = number

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
        found = [number for number in self._by_given.get(key, {}) if self._fits(number, gender)]
        whole = self._words.short.get(key, "")
        # A Kitty is no short form of one who is only ever called Lady Catherine.
        if not found and whole and 3 * self._forms[("", whole)] >= self._first[whole]:
            found = [number for number in self._by_given.get(whole, {}) if self._fits(number, gender)]
        if len(found) == 2 and self._are_one_woman(*found):
            self._join(*found)
            found = found[:1]
        if len(found) > 1 and self._forms[("", key)] >= 8 * sum(self._weights[one] for one in found):
            # Hardly ever called anything but this one name, as Milady is.
            for other in found[1:]:
                self._join(found[0], other)
            found = found[:1]
        if found:
            self._mean(form, *self._prefer(found))
            return
        self._add(form, key, "", gender)

    def _are_one_woman(self, one: int, other: int) -> bool:
        """Whether two women of one given name are the same before and after she married."""
        pair = [self._people[one], self._people[other]]
        wives = [
            self._forms[("Mrs", person.surname)] > 0 and not self._forms[("Miss", person.surname)] for person in pair
        ]
        return all(person.gender == "female" and person.surname for person in pair) and sum(wives) == 1

    def _join(self, one: int, other: int) -> None:
        for form in list(self._own[other]):
            self._mean(form, one)
        for numbers in self._held_in.pop(other, []):
            del numbers[other]
            self._hold(numbers, one)

    def _prefer(self, found: list[int]) -> tuple[int, ...]:
        """One character where all others of that given name hardly occur, else all of them."""
        weight = {number: self._weights[number] for number in found}
        first = max(found, key=lambda number: (weight[number], -number))
        rest = sum(weight.values()) - weight[first]
        often = weight[first] + self._weigh_surname(first)
        return (first,) if often >= 8 * max(rest, 1) or len(found) == 1 else tuple(sorted(found))

    def _weigh_surname(self, number: int) -> int:
        """How often somebody is called by the surname, which is read later; 0 where others bear it, too."""
        person = self._people[number]
        if not person.surname or len(self._family[person.surname]) > 1:
            return 0
        rivals = self._words.female_titles if person.gender == "male" else self._words.male_titles
        return self._single[person.surname].total() - sum(self._single[person.surname][title] for title in rivals)

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
            women = [one for one in family if self._people[one].gender == "female"]
            # Joined persons stand in two families, and bear the name of one.
            surnames = {self._people[one].surname for one in women}
            alone = {surname: self._find_only_woman(surname) for surname in surnames}
            found = [one for one in women if self._is_wife(one, title, alone[self._people[one].surname])]
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
            self._mean(form, found[0])
            return
        if len(found) > 1:
            self._mean(form, *found)
            return
        self._add(form, "", key, words.gender_of_title(title))

    def _take_bare(self, form: Form, family: dict[int, None]) -> None:
        men = [one for one in family if self._people[one].gender != "female"]
        titled = [one for one in men if self._is_bare(one, "male")]
        if self._doubtful & family.keys():
            self._mean(form, *sorted(men))
        elif len(family) == 1 or len(men) == 1:
            self._mean(form, (men or list(family))[0])
        elif len(titled) == 1:
            self._mean(form, titled[0])
        elif family:
            self._mean(form, *sorted(family))
        else:
            self._add(form, "", self._key(form[1]), "")

    def _is_doubtful(self, form: Form, number: int) -> bool:
        """Whether a title and surname may mean an elder of the one that is known by both names.

        So it is where he is told apart by his given name, "Mr. G S", half as often or more; and where he is called by
        that name so much more often that whoever is called by the surname may be another.
        """
        person = self._people[number]
        told = self._forms[(form[0], f"{person.given} {person.surname}")]
        given = self._alone[person.given] + self._whole[person.given, person.surname]
        return told * 2 > self._forms[form] or self._forms[form] * _MANY < given

    def _leave_open(self, form: Form, number: int, gender: Gender) -> None:
        """The form means the one who is known, or somebody else of the family."""
        other = self._add(form, "", self._people[number].surname, gender)
        self._doubtful.add(other)
        self._mean(form, *sorted((number, other)))

    def _is_titled(self, number: int, title: str) -> bool:
        """Whether this title stands before the whole name of somebody."""
        person = self._people[number]
        return self._forms[(title, f"{person.given} {person.surname}")] > 0

    def _count_whole(self, number: int) -> int:
        person = self._people[number]
        alone = self._alone[person.given] if person.given == person.surname else 0
        return self._whole[person.given, person.surname] + alone

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
        return any(title in self._words.married for title, _ in self._own[number])

    def _find_only_woman(self, surname: str) -> int | None:
        """The only woman of a family; None where there are several, or none."""
        women = [one for one in self._family[surname] if self._people[one].gender == "female"]
        return women[0] if len(women) == 1 else None

    def _is_wife(self, number: int, title: str, alone: int | None) -> bool:
        """Whether "Mrs. S" may be this woman: so called by her given name, or the only woman of the name."""
        person = self._people[number]
        if any(held == title for held, _ in self._own[number]):
            return True
        misses = any(self._forms[(miss, person.surname)] for miss in self._words.unmarried)
        return number == alone and not misses and bool(person.given)
