from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.mcp_client.config.names import server_slug, slug_in, tool_name
from chiron_workers.toolkit.tool import NAME


def test_plain_names_stay_readable():
    assert tool_name(server_slug("exa"), "web-search") == "exa__web-search"


def test_names_that_are_cut_or_cleaned_stay_apart():
    names = ["a b", "a_b", "a__b", "a b_", "ä b", "", " ", "x" * 80, "x" * 81]
    assert len({server_slug(name) for name in names}) == len(names)
    assert len({tool_name("s", name) for name in names}) == len(names)


@given(server=st.text(), tool=st.text(), other_server=st.text(), other_tool=st.text())
def test_every_name_is_legal_tells_its_server_and_is_its_own(
    server: str, tool: str, other_server: str, other_tool: str
):
    name = tool_name(server_slug(server), tool)
    assert NAME.fullmatch(name)
    assert slug_in(name) == server_slug(server)
    if (server, tool) != (other_server, other_tool):
        assert name != tool_name(server_slug(other_server), other_tool)
