from __future__ import annotations

from tests.bot.web.v1.fuzz import fuzz
from tests.bot.web.v1.world import ApiWorld


async def test_no_request_that_the_document_can_make_is_a_fault(api: ApiWorld) -> None:
    """A sample of `make api-fuzz`. Seen failing with a line break in an address, which was refused in another form."""
    counts = await fuzz(api, 300)
    assert sum(counts.values()) >= 250
    assert any(status < 300 for status in counts)
    assert api.touched.sent
