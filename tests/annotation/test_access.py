from __future__ import annotations

import stat
from pathlib import Path

import pytest

from annotation.access import (
    Access,
    access_file,
    check_address,
    find_token,
    invent_access,
    read_access,
    write_access,
)
from flows.label_studio import make_environment, register_first_user
from hopwright.errors import InputError

URL = "http://127.0.0.1:8080"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    for name in ("API_KEY", "URL", "USERNAME", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"LABEL_STUDIO_{name}", raising=False)


def test_a_first_user_is_new_each_time_and_shows_no_secret() -> None:
    one, other = invent_access(URL), invent_access(URL)
    assert one.token != other.token
    assert one.password != other.password
    assert len(one.token) == 40
    assert one.token not in repr(one)
    assert one.password not in repr(one)


def test_the_file_is_its_owners_only_and_is_read_back() -> None:
    access = invent_access(URL)
    write_access(access_file(), access)
    assert stat.S_IMODE(access_file().stat().st_mode) == 0o600
    assert read_access(access_file()) == access
    assert [path.name for path in access_file().parent.iterdir()] == ["access.env"]
    access_file().chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        read_access(access_file())


def test_a_damaged_file_is_one_line_without_what_it_holds() -> None:
    write_access(access_file(), invent_access(URL))
    access_file().write_text("LABEL_STUDIO_URL=http://x\nLABEL_STUDIO_PASSWORD=hidden\n")
    with pytest.raises(InputError, match="no line for LABEL_STUDIO_USERNAME") as caught:
        read_access(access_file())
    assert "hidden" not in str(caught.value)


def test_a_token_is_found_for_its_own_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="set LABEL_STUDIO_API_KEY"):
        find_token(URL)
    access = invent_access(URL)
    write_access(access_file(), access)
    assert find_token(f"{URL}/") == access.token
    with pytest.raises(InputError, match="no access token for https://elsewhere"):
        find_token("https://elsewhere")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "given")
    assert find_token(URL) == "given"


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host", "http://name:secret@host"])
def test_address_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InputError, match="must look like") as caught:
        check_address(url)
    assert "secret" not in str(caught.value)


def test_secrets_are_printed_on_the_first_start_only() -> None:
    access = Access(URL, "me@example.org", "pass-word", "t0ken")
    first = "\n".join(register_first_user(access, new=True, taken=True))
    assert "pass-word" in first
    assert "t0ken" in first
    for new, taken in ((False, True), (True, False), (False, False)):
        later = "\n".join(register_first_user(access, new=new, taken=taken))
        assert "pass-word" not in later
        assert "t0ken" not in later


def test_the_server_is_quiet_closed_to_strangers_and_on_sqlite_by_default(tmp_path: Path) -> None:
    access = invent_access(URL)
    made = make_environment(access, tmp_path, {"PATH": "/bin", "LABEL_STUDIO_API_KEY": "another"})
    assert made["COLLECT_ANALYTICS"] == made["LATEST_VERSION_CHECK"] == "false"
    assert made["SENTRY_DSN"] == made["FRONTEND_SENTRY_DSN"] == ""
    assert made["LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK"] == "true"
    assert made["LABEL_STUDIO_USER_TOKEN"] == access.token
    assert "DJANGO_DB" not in made
    assert "LABEL_STUDIO_API_KEY" not in made
    assert make_environment(access, tmp_path, {"COLLECT_ANALYTICS": "true"})["COLLECT_ANALYTICS"] == "true"


def test_postgresql_is_chosen_by_its_address(tmp_path: Path) -> None:
    given = {"LABEL_STUDIO_DATABASE": "postgresql://anna:p%40ss@db.example.org:6543/reviews"}
    made = make_environment(invent_access(URL), tmp_path, given)
    assert {name: value for name, value in made.items() if name.startswith(("POSTGRE", "DJANGO"))} == {
        "DJANGO_DB": "default",
        "POSTGRE_USER": "anna",
        "POSTGRE_PASSWORD": "p@ss",
        "POSTGRE_HOST": "db.example.org",
        "POSTGRE_PORT": "6543",
        "POSTGRE_NAME": "reviews",
    }
    assert "LABEL_STUDIO_DATABASE" not in made
    for bad in ("mysql://a:secret@b/c", "postgresql://secret", "postgresql://h:secret/x"):
        with pytest.raises(InputError, match="must look like") as caught:
            make_environment(invent_access(URL), tmp_path, {"LABEL_STUDIO_DATABASE": bad})
        assert "secret" not in str(caught.value)
