"""One line of the result: what was measured beside its target."""

from __future__ import annotations

from dataclasses import dataclass

HEADING = f"{'':<62} {'measured':>9} {'target':>9} {'':<6} {'ratio':>6}"


@dataclass(frozen=True)
class Row:
    """One target: at most `target`."""

    what: str
    measured: float
    target: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether it is reached."""
        return self.measured <= self.target

    def __str__(self) -> str:
        ratio = f"{self.measured / self.target:>6.2f}" if self.target else f"{'':>6}"
        verdict = "pass" if self.met else "FAIL"
        return f"{self.what:<62} {self.measured:>9.2f} {self.target:>9.2f} {self.unit:<6} {ratio}  {verdict}"
