"""One server for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.studio.served import Client, Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("studio"), "--upload-limit", "4") as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Served) -> Client:
    return server.sign_in()
