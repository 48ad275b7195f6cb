"""Writes docs/graph.md from the code: what each node does, reads and writes, and where it may go.

Routes are those of the compiled graphs; what is read and written is found in the code of the node and of the
functions of the graph that it calls. Run `python docs/graph_table.py` after a change of a node.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType

from agent.graph.executor.build import build_executor
from agent.graph.executor.nodes.action_summary import action_summary
from agent.graph.executor.nodes.call_user import call_user
from agent.graph.executor.nodes.check_loop import check_loop
from agent.graph.executor.nodes.entry import executor_entry
from agent.graph.executor.nodes.execute_action import execute_action
from agent.graph.executor.nodes.exit import executor_exit
from agent.graph.executor.nodes.parse_action import parse_action
from agent.graph.executor.nodes.screenshot import screenshot
from agent.graph.executor.nodes.sum_up_past import sum_up_past
from agent.graph.executor.nodes.vision_model import vision_model
from agent.graph.executor.state import ExecutorState
from agent.graph.main.build import build_main
from agent.graph.main.nodes.executor import executor
from agent.graph.main.nodes.intent_analyzer import intent_analyzer
from agent.graph.main.nodes.member import member
from agent.graph.main.nodes.plan_generator import plan_generator
from agent.graph.main.nodes.plan_supervisor import plan_supervisor
from agent.graph.main.nodes.summarizer import summarizer
from agent.graph.main.state import MainState
from agent.graph.member.members import build_member
from agent.graph.member.nodes import member_model, member_question, member_tools
from agent.graph.member.state import MemberState

PAGE = Path(__file__).with_name("graph.md")
MAIN = (intent_analyzer, plan_generator, plan_supervisor, executor, member, summarizer)
MEMBER = (member_model, member_tools, member_question)
EXECUTOR = (
    executor_entry,
    screenshot,
    vision_model,
    action_summary,
    parse_action,
    execute_action,
    call_user,
    check_loop,
    sum_up_past,
    executor_exit,
)
WRITTEN_BY_DATACLASSES = frozenset({"__eq__", "__repr__", "__hash__", "__setattr__", "__delattr__"})
INTRODUCTION = """# The graphs

Written by `docs/graph_table.py` from the code. Reads and writes are keys of the graph's state, also where a node passes
them on to a function; `END` is the end of the graph. `opengui graph` prints the same routes as Mermaid.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, graph, nodes, state in (
        ("Main graph", build_main(None), MAIN, MainState),
        ("Executor graph", build_executor(None), EXECUTOR, ExecutorState),
        ("Member graph", build_member(None), MEMBER, MemberState),
    ):
        parts += [f"\n## {title}\n\n", "| node | does | reads | writes | routes |\n|---|---|---|---|---|\n"]
        drawn = graph.get_graph()
        keys = frozenset(state.__annotations__)
        assert {node.__name__ for node in nodes} == set(graph.nodes) - {"__start__"}
        for node in nodes:
            assert isinstance(node, FunctionType)
            name = node.__name__
            routes = sorted({edge.target.replace("__end__", "END") for edge in drawn.edges if edge.source == name})
            reads, writes = _keys(node, keys)
            cells = (f"`{name}`", _does(node), _listed(reads), _listed(writes), _listed(routes))
            parts.append(f"| {' | '.join(cells)} |\n")
    return "".join(parts)


def _does(node: FunctionType) -> str:
    """What the node's module says about it."""
    module = inspect.getdoc(inspect.getmodule(node)) or ""
    name, _, does = module.split("\n\n")[0].partition(": ")
    told = does if name == node.__name__ else (inspect.getdoc(node) or "").split("\n\n")[0]
    return told.replace("\n", " ").replace("|", "\\|")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "–"


def _keys(node: FunctionType, keys: frozenset[str]) -> tuple[set[str], set[str]]:
    reads: set[str] = set()
    writes: set[str] = set()
    for function in _reached(node, set()):
        if function.__code__.co_filename == "<string>":
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        inner = set(_inner(tree))
        for part in ast.walk(tree):
            match part:
                case ast.Subscript(
                    value=ast.Name(id="state") | ast.Attribute(attr="state"), slice=ast.Constant(value=str(key))
                ):
                    reads.add(key)
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="state") | ast.Attribute(attr="state"), attr="get"),
                    args=[ast.Constant(value=str(key)), *_],
                ):
                    reads.add(key)
                case ast.Subscript(
                    value=ast.Name(id="update") | ast.Attribute(attr="changed"),
                    slice=ast.Constant(value=str(key)),
                    ctx=ast.Store(),
                ):
                    writes.add(key)
                case ast.Dict(keys=names) if part not in inner:
                    writes |= {
                        name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)
                    }
                case ast.Call(func=ast.Attribute(value=ast.Name(id="step"), attr="update"), keywords=given):
                    writes |= {word.arg for word in given if word.arg}
                case _:
                    pass
    return reads & keys, writes & keys


def _inner(tree: ast.AST) -> Iterator[ast.expr]:
    """Dictionaries that are no update of the state: values inside one, past steps, changed copies of events."""
    for part in ast.walk(tree):
        match part:
            case ast.Dict(values=values):
                yield from (value for value in values if isinstance(value, ast.Dict))
            case ast.AnnAssign(annotation=ast.Name(id="PastData"), value=ast.Dict() as past):
                yield past
            case ast.Call(func=ast.Attribute(attr="model_copy"), keywords=[ast.keyword(value=ast.Dict() as copy)]):
                yield copy
            case _:
                pass


def _reached(function: FunctionType, seen: set[FunctionType]) -> Iterator[FunctionType]:
    """The function and those of the graph that it names, classes with their methods."""
    if function in seen or function.__name__ in WRITTEN_BY_DATACLASSES:
        return
    seen.add(function)
    yield function
    code = function.__code__
    names = set(code.co_names)
    for inner in code.co_consts:
        names |= set(getattr(inner, "co_names", ()))
    for name in sorted(names):
        found = function.__globals__.get(name)
        members = [found]
        if inspect.isclass(found):
            members = [m.fget if isinstance(m, property) else m for m in vars(found).values()]
        if inspect.ismodule(found) and found.__name__.startswith("agent.graph"):
            members = [getattr(found, other, None) for other in sorted(names)]
        for each in members:
            if isinstance(each, FunctionType) and each.__module__.startswith("agent.graph"):
                yield from _reached(each, seen)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
