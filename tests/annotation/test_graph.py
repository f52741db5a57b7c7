import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.graph_drawing import draw_graph, lay_out
from hopwright.records import Item
from tests.builders import all_items, bridge_item, chain_item, converging_item


def reshape(depends_on: list[tuple[int, ...]]) -> Item:
    """An item of any graph: the chain's hops, repeated and rewired."""
    base = chain_item().hops
    hops = tuple(
        base[index % 4].model_copy(update={"index": index + 1, "depends_on": needed})
        for index, needed in enumerate(depends_on)
    )
    return chain_item().model_copy(update={"hops": hops})


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Any acyclic graph of 1 to 8 hops."""
    size = draw(st.integers(1, 8))
    return [tuple(sorted(draw(st.sets(st.integers(1, index), max_size=3)))) if index else () for index in range(size)]


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_picture_is_xml_with_a_box_per_hop_and_an_arrow_per_dependency(item: Item) -> None:
    root = ET.fromstring(draw_graph(item))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}rect")) == 4
    assert len(root.findall(f"{space}path")) == 2 * sum(len(hop.depends_on) for hop in item.hops)
    texts = [node.text for node in root.findall(f"{space}text")]
    assert texts[1::2] == [hop.answer for hop in item.hops]


def test_columns_of_the_published_graphs() -> None:
    def columns(item: Item) -> list[int]:
        nodes, _ = lay_out(item)
        places = sorted({node.x for node in nodes})
        return [places.index(node.x) for node in nodes]

    assert columns(chain_item()) == [0, 1, 2, 3]
    assert columns(converging_item()) == [0, 0, 1, 2]
    assert columns(bridge_item()) == [0, 1, 1, 2]


@given(graphs())
def test_boxes_never_overlap_and_arrows_point_right(depends_on: list[tuple[int, ...]]) -> None:
    item = reshape(depends_on)
    nodes, edges = lay_out(item)
    for one in nodes:
        assert one.x >= 0
        assert one.y >= 0
        for other in nodes:
            if one.index < other.index:
                apart = abs(one.x - other.x) >= one.width or abs(one.y - other.y) >= one.height
                assert apart
    place = {node.index: node for node in nodes}
    assert {(edge.source, edge.target) for edge in edges} == {
        (needed, hop.index) for hop in item.hops for needed in hop.depends_on
    }
    for edge in edges:
        assert place[edge.source].x + place[edge.source].width < place[edge.target].x
    ET.fromstring(draw_graph(item))


def test_long_answers_are_shortened_to_their_box() -> None:
    hop = chain_item().hops[0].model_copy(update={"answer": "A very long name of something " * 400})
    item = chain_item().model_copy(update={"hops": (hop, *chain_item().hops[1:])})
    assert all(len(node.text) <= 20 for node in lay_out(item)[0])
    assert len(draw_graph(item)) < 5_000
