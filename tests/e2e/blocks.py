"""What the test of the deployments does as a client of its server: `python -m tests.e2e.blocks ADDRESS KEY`.

Makes the notification block custom-webhook/ops, which posts to the address, and the Secret block of the endpoint
`words`. With `--events PAYLOAD NAME…` it emits events of a run instead.
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
    if first == "--events":
        payload, *names = json.loads(rest[0]), *rest[1:]
        for name in names:
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
