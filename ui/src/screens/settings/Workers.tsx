/** The processes that carry plans out. */
import { Group, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { WorkerView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown } from "../../kit";
import { Section } from ".";
import { texts } from "./texts";

const NOT_SHARED = "ledger-not-shared";

export function Workers() {
  const t = useTexts(texts);
  const fleet = useRead("/v1/workers", {}, { refetchInterval: 10_000 });
  if (fleet.error?.code === NOT_SHARED) {
    return <Section title={t.workers} about={t.workersAbout}><Text size="sm" c="dimmed">{t.single}</Text></Section>;
  }
  return (
    <Section title={t.workers} about={t.workersAbout}>
      <Shown query={fleet}>
        {({ workers }) =>
          workers.length === 0
            ? <Text size="sm" c="dimmed">{t.noWorkers}</Text>
            : <div role="list">{workers.map((worker) => <WorkerRow key={worker.worker_id} worker={worker} />)}</div>}
      </Shown>
    </Section>
  );
}

function WorkerRow({ worker }: { worker: WorkerView }) {
  const t = useTexts(texts);
  const most = worker.concurrency === null ? "∞" : String(worker.concurrency);
  return (
    <div role="listitem" className="list-row" style={{ paddingInline: 0 }}>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Group gap="xs">
          <Text size="sm" fw={600}><AnyText oneLine style={{ maxWidth: 320 }}>{worker.worker_id}</AnyText></Text>
          <span className="pill" style={{ background: "var(--surface-2)", color: "var(--text-dim)" }}>{worker.state}</span>
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <AnyText>{worker.host}</AnyText> · {worker.release} · {worker.isolation}
          {worker.labels.length > 0 && <> · <AnyText>{worker.labels.join(", ")}</AnyText></>}
        </Text>
        {Object.entries(worker.lacking).map(([what, why]) => (
          <Text key={what} size="xs" c="var(--state-ask)"><AnyText>{`${what}: ${why}`}</AnyText></Text>
        ))}
      </div>
      <Text size="xs" c="dimmed">{t.running(worker.running, most)}</Text>
    </div>
  );
}
