/** What happened to a task, the newest first; details on request. */
import { Text } from "@mantine/core";

import type { TaskEventView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { Json, TimeAgo } from "../../kit";
import type { TabProps } from ".";
import { texts } from "./texts";

const SEALS = new Set(["seals", "rows", "blobs"]);

export function Events({ task }: TabProps) {
  const t = useTexts(texts);
  if (task.events.length === 0) return <Text c="dimmed">{t.noEvents}</Text>;
  return (
    <ol className="card event-list">
      {task.events.toReversed().map((event) => <Event key={event.seq} event={event} />)}
    </ol>
  );
}

function Event({ event }: { event: TaskEventView }) {
  const { seq, at, event: kind, ...rest } = event as TaskEventView & Readonly<Record<string, unknown>>;
  const details = Object.fromEntries(Object.entries(rest).filter(([key]) => !SEALS.has(key)));
  const head = (
    <>
      <span className="event-number">{seq}</span>
      <b className="event-kind">{kind}</b>
      <Text span size="xs" c="dimmed"><TimeAgo at={at} /></Text>
    </>
  );
  if (Object.keys(details).length === 0) return <li><div className="event-head">{head}</div></li>;
  return (
    <li>
      <details>
        <summary className="event-head">{head}</summary>
        <Json value={details} label={kind} height={260} />
      </details>
    </li>
  );
}
