"""A person reads what becomes of a task in their own language, whoever or whatever ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.actions import Finish, OpenUrl
from agent.error_mapping import fault_of
from agent.events import TaskEnded, TaskEvent
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.models.base import ModelRequest, Purpose
from agent.models.call_failure import CallFailure, error_of
from agent.models.endpoint import EndpointSettings
from agent.models.state import Cause
from agent.ports.agent import TaskOrder
from agent.ports.leases import NoPhone
from agent.run import Outcome, RunId
from agent.scene import StepFailure
from agent.wording import sentence
from agent.wording import words as agent_words
from bot.domain.task import TaskState, WrongState
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.tasks.leases import GRACE_S
from bot.tasks.queue import unservable_reason
from bot.texts import speaking
from devices.adb.apps import view_command
from devices.adb.links import error_for, health_of
from devices.errors import InputRejected, PhoneTimeout
from devices.wording import said, sentence_of, words
from tests.agent.offline.scenes import element, next_action, scene, screen, step
from tests.bot.tasks.bench import ANNA, HERE, bench, phone
from tests.bot.tasks.minds import ScriptedMind
from tests.bot.tasks.test_leases import shelf

MEI = replace(ANNA, id="2", name="Mei", language="zh")


async def ends(_: TaskOrder) -> AsyncIterator[TaskEvent]:
    """Says what the agent says by itself."""
    yield TaskEnded(outcome=Outcome.BLOCKED, summary=sentence("ended.circles"))


async def breaks(order: TaskOrder) -> AsyncIterator[TaskEvent]:
    if order.text:
        raise ValueError("a bug")
    yield TaskEnded(outcome=Outcome.FAILED, summary="")


async def ended(path: Path, agent: ScriptedMind, *phones: WishedPhone) -> str:
    async with bench(path, agent) as one:
        task = (await one.task_service.accept(TaskRequest("打开设置", MEI, Origin(HERE, ""), phones=phones))).task
        return (await one.until(task, TaskState.ENDED)).summary


async def test_what_the_agent_says(tmp_path: Path) -> None:
    assert await ended(tmp_path, ScriptedMind(ends)) == "同样的步骤反复做都没有效果，所以放弃了这一部分。"


async def test_a_fault(tmp_path: Path) -> None:
    summary = await ended(tmp_path, ScriptedMind(breaks))
    assert summary == "程序出了问题（ValueError）。任务在此停止；不会自动重复任何操作。详情在日志里；请报告这个问题。"


async def test_several_phones(tmp_path: Path) -> None:
    summary = await ended(tmp_path, ScriptedMind(ends), WishedPhone("a", "甲"), WishedPhone("b", "乙"))
    assert summary.splitlines()[0] == "2 部手机中有 0 部已完成。"


async def test_what_people_do(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedMind(breaks)) as one:
        task = (await one.task_service.accept(TaskRequest("打开设置", MEI, Origin(HERE, "")))).task
        await one.until(task, TaskState.ENDED)
        with speaking("zh"), pytest.raises(WrongState, match="任务 1 已结束：现在不能结束。"):
            await one.task_service.cancel(task.id, MEI)


async def test_who_waits_for_a_phone_that_went_away_reads_it_in_their_language(tmp_path: Path) -> None:
    """Whoever waits looks once more itself, after the heartbeat has told that there is no hope."""
    async with shelf(tmp_path, "a") as one:
        await one.take(RunId("1"), "a")
        with speaking("zh"):
            waiting = await one.queue(RunId("2"), "a").at(1)
        one.phones.set()
        await one.leases.release(RunId("1"))
        one.clock.now += GRACE_S
        await one.leases.heartbeat()
        with pytest.raises(NoPhone, match="没有连接手机"):
            await waiting.lease()


def test_why_a_phone_cannot_be_used() -> None:
    health, reason, fix = health_of("unauthorized", "R58M12ABCDE")
    with speaking("zh"):
        found = unservable_reason("", [phone("a", health, reason, fix)], ())
    assert str(found) == ("A 不能使用：手机还不信任这台电脑。请解锁手机，在“允许 USB 调试”上点允许，并勾选“始终允许”。")


def test_why_a_model_gave_no_answer() -> None:
    failure = CallFailure(Cause.UNKNOWN_MODEL, 404, "model_not_found")
    error = error_of(failure, EndpointSettings("m", "http://models.example/v1"), ModelRequest(Purpose.ACT, ()))
    with speaking("zh"):
        assert fault_of(error).happened == "models.example 不认识模型“m”。"
    assert str(error) == "models.example does not know the model 'm'."


def test_why_a_phone_failed() -> None:
    slow = PhoneTimeout(words("phone.error.too_slow", serial="R58", doing=words("phone.doing.picture")))
    with speaking("zh"):
        assert fault_of(slow).happened == "手机没有及时应答：手机 R58 用时太长（截图）。"
        assert fault_of(error_for("device offline", "R58")).happened.endswith(
            "请拔下数据线再插上，或把 USB 调试关掉再打开。"
        )
        assert fault_of(PhoneTimeout("{odd}")).happened == "手机没有及时应答：{odd}"
    assert str(slow) == "The phone R58 took too long: taking a picture."


def test_why_an_address_is_asked_about() -> None:
    reason = Policy.default().gate(OpenUrl(url="upi://pay?am=5"), TouchTarget("")).reason
    with speaking("zh"):
        assert said(reason) == "打开会发起付款的地址（upi:）"
    assert said(reason) == "opens an address that begins a payment (upi:)"


async def test_why_the_offline_pilot_stopped() -> None:
    """The reason is kept as the sentence that it is; the pilot says it in the person's language."""
    with pytest.raises(InputRejected) as rejected:
        view_command("intent://x")
    for reason, read in (
        (sentence_of(rejected.value), "不打开以 intent: 开头的地址；请使用网址。"),
        (agent_words("reason.closed", app="银行 (com.bank)"), "策略不允许操作应用 银行 (com.bank)"),
    ):
        past = [step("1/1 tap: x", "tap '付款'", None, StepFailure(reason))] * 2
        with speaking("zh"):
            ended = await next_action(scene("点击付款", screen(element("button", "付款")), past))
        assert isinstance(ended, Finish)
        assert read in ended.summary
