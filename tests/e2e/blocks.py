"""What the test of the deployments does as a client of its server: `python -m tests.e2e.blocks ADDRESS KEY`.

Makes the notification block custom-webhook/ops, which posts to the address, and the Secret block of the endpoint
`words`. With `--event NAME PAYLOAD` it emits an event of a run instead.
"""

from __future__ import annotations

import json
import sys

from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.blocks.system import Secret
from prefect.events import emit_event
from prefect.events.worker import EventsWorker


def main() -> None:
    """Do what the arguments say."""
    first, *rest = sys.argv[1:]
    if first == "--event":
        name, payload = rest[0], json.loads(rest[1])
        emit_event(name, resource={"prefect.resource.id": f"hopwright.run.{payload['run']}"}, payload=payload)
        EventsWorker.drain_all()
        return
    block = CustomWebhookNotificationBlock(
        name="ops", url=first, json_data={"title": "{{subject}}", "text": "{{body}}"}
    )
    block.save("ops", overwrite=True)
    Secret(value=rest[0]).save("hopwright-words", overwrite=True)


if __name__ == "__main__":
    main()
