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
from typing import Any, get_type_hints, is_typeddict

from agent.graph.agent import main_graph
from agent.graph.executor.build import executor_entry, executor_exit, executor_graph
from agent.graph.executor.nodes.call_user import call_user
from agent.graph.executor.nodes.check_loop import check_loop
from agent.graph.executor.nodes.execute_action import execute_action
from agent.graph.executor.nodes.parse_action import parse_action
from agent.graph.executor.nodes.screenshot import screenshot
from agent.graph.executor.nodes.summaries import action_summary, sum_up_past
from agent.graph.executor.nodes.vision_model import vision_model
from agent.graph.executor.state import ExecutorState
from agent.graph.main.nodes.executor import executor
from agent.graph.main.nodes.intent_analyzer import intent_analyzer
from agent.graph.main.nodes.member import member
from agent.graph.main.nodes.plan_generator import plan_generator
from agent.graph.main.nodes.plan_supervisor import plan_supervisor
from agent.graph.main.nodes.summarizer import summarizer
from agent.graph.main.state import MainState
from agent.graph.member.members import member_graph
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
CURRENT_STEP = {
    "step_state": "step",
    "question": "question",
    "safety": "safety",
    "conversation": "conversation",
    "order": "order",
}
"""Attributes of agent.graph.executor.stages.CurrentStep that are branches of the state."""
INTRODUCTION = """# The graphs

After this page you know what each node of the two graphs reads and writes, and where it leads.

`docs/graph_table.py` writes this page from the code. *Reads* and *writes* are keys of the graph's state, by subject,
including those that a node passes on to a function. `END` is the end of the graph. `opengui graph` prints the same
routes as Mermaid.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, graph, nodes, state in (
        ("Main graph", main_graph(), MAIN, MainState),
        ("Executor graph", executor_graph(), EXECUTOR, ExecutorState),
        ("Member graph", member_graph(), MEMBER, MemberState),
    ):
        parts += [f"\n## {title}\n\n", "| node | does | reads | writes | routes |\n|---|---|---|---|---|\n"]
        drawn = graph.get_graph()
        assert {node.__name__ for node in nodes} == set(graph.nodes) - {"__start__"}
        for node in nodes:
            assert isinstance(node, FunctionType)
            name = node.__name__
            routes = sorted({edge.target.replace("__end__", "END") for edge in drawn.edges if edge.source == name})
            reads, writes = _keys(node, state)
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
    """The names in order; those of a subject together behind it."""
    plain = [f"`{name}`" for name in sorted(names) if "." not in name]
    subjects: dict[str, list[str]] = {}
    for name in sorted(names):
        subject, point, key = name.partition(".")
        if point:
            subjects.setdefault(subject, []).append(f"`{key}`")
    told = [", ".join(plain)] * bool(plain) + [f"{subject}: {', '.join(keys)}" for subject, keys in subjects.items()]
    return "; ".join(told) or "–"


def _keys(node: FunctionType, state: type) -> tuple[set[str], set[str]]:
    """What the node reads and writes: keys of the state, those of its subjects as `subject.key`."""
    plain, subjects = _tree(state)
    branches = {branch: subject for subject, branch in subjects.items()} | {"StepData": "step"}
    reads: set[str] = set()
    writes: set[str] = set()
    for function in _reached(node, set()):
        if function.__code__.co_filename == "<string>":
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        names = _named(tree, subjects, branches)
        sent = [part.value for part in ast.walk(tree) if isinstance(part, ast.AnnAssign) and _is_sent(part)]
        for part in ast.walk(tree):
            match part:
                case ast.Dict() if part in sent:
                    continue
                case ast.Subscript(value=value, slice=ast.Constant(value=str(key)), ctx=ctx):
                    subject = _subject_of(value, names, subjects)
                    if subject or (key in plain and _is_state(value)):
                        (writes if isinstance(ctx, ast.Store) else reads).add(f"{subject}.{key}".lstrip("."))
                case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str(key)), *_]):
                    subject = _subject_of(value, names, subjects)
                    if subject or (key in plain and _is_state(value)):
                        reads.add(f"{subject}.{key}".lstrip("."))
                case ast.Dict(keys=keys, values=values):
                    for name, made in zip(keys, values, strict=True):
                        match name, made:
                            case ast.Constant(value=str(key)), _ if key in plain:
                                writes.add(key)
                            case ast.Constant(value=str(key)), ast.Dict() if key in subjects:
                                writes |= {f"{key}.{each}" for each in _constants(made)}
                            case _:
                                pass
                case ast.AnnAssign(annotation=ast.Name(id=branch), value=ast.Dict() as made) if branch in branches:
                    writes |= {f"{branches[branch]}.{key}" for key in _constants(made)}
                case ast.AugAssign(target=target, value=ast.Dict() as made):
                    if subject := _subject_of(target, names, subjects):
                        writes |= {f"{subject}.{key}" for key in _constants(made)}
                case ast.Name(id=name) if isinstance(shared := function.__globals__.get(name), dict):
                    writes |= _written(shared, name, plain, subjects)
                case _:
                    pass
    kinds = get_type_hints(state)
    known = plain | {f"{subject}.{key}" for subject in subjects for key in get_type_hints(kinds[subject])}
    return reads & known, writes & known


def _is_sent(part: ast.AnnAssign) -> bool:
    """Whether this is what a node is sent, which is no update."""
    return isinstance(part.annotation, ast.Name) and part.annotation.id == "PartState"


def _is_state(value: ast.expr) -> bool:
    """Whether an expression is the whole state, or an update of it."""
    match value:
        case ast.Name(id="state" | "update" | "now" | "closed") | ast.Attribute(attr="state"):
            return True
        case _:
            return False


def _subject_of(value: ast.expr, names: dict[str, str], subjects: dict[str, str]) -> str:
    """The subject that an expression is a branch of the state for, "" for any other."""
    match value:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=ast.Name(id="step" | "self"), attr=attr):
            return CURRENT_STEP.get(attr, "")
        case ast.Subscript(value=whole, slice=ast.Constant(value=str(key))):
            return key if key in subjects and _is_state(whole) else ""
        case _:
            return ""


def _tree(state: type) -> tuple[set[str], dict[str, str]]:
    """The keys of a state that are no subjects, and its subjects with the names of their types."""
    plain, subjects = set(), {}
    for name, kind in get_type_hints(state).items():
        if is_typeddict(kind):
            subjects[name] = kind.__name__
        elif name != "version":
            plain.add(name)
    return plain, subjects


def _named(tree: ast.AST, subjects: dict[str, str], branches: dict[str, str]) -> dict[str, str]:
    """Names of variables that are a branch of the state, with its subject."""
    found: dict[str, str] = {}
    for part in ast.walk(tree):
        match part:
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=True))
                for name, made in pairs:
                    match name, made:
                        case ast.Name(id=variable), ast.Subscript(slice=ast.Constant(value=str(key))):
                            found |= {variable: key} if key in subjects else {}
                        case ast.Name(id=variable), ast.Attribute(value=ast.Name(id="step"), attr=attr):
                            found |= {variable: CURRENT_STEP[attr]} if attr in CURRENT_STEP else {}
            case ast.AnnAssign(target=ast.Name(id=variable), annotation=ast.Name(id=branch)):
                found |= {variable: branches[branch]} if branch in branches else {}
            case ast.arg(arg=variable, annotation=ast.Name(id=branch)):
                found |= {variable: branches[branch]} if branch in branches else {}
            case _:
                pass
    return found


def _written(shared: dict[str, Any], name: str, plain: set[str], subjects: dict[str, str]) -> set[str]:
    """The keys of an update, or of a branch, that stands in the module as a constant."""
    if name == "NO_STEP":
        return {f"step.{key}" for key in shared}
    if name == "NO_QUESTION":
        return {f"question.{key}" for key in shared}
    keys = {key for key in shared if key in plain}
    return keys | {f"{subject}.{key}" for subject in subjects if subject in shared for key in shared[subject]}


def _constants(made: ast.Dict) -> set[str]:
    return {key.value for key in made.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


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
