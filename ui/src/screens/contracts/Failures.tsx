/** How often messages broke a contract: by field, by agent and model, with examples. */
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";

import { useRead } from "../../api/queries";
import type { BrokenFieldView, FailureExampleView, FailureRateView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown, TimeAgo } from "../../kit";
import { texts } from "./texts";

export function Failures({ contract }: { contract: string }) {
  const t = useTexts(texts);
  const failures = useRead("/v1/contracts/{name}/failures", { params: { name: contract } });
  return (
    <Shown query={failures}>
      {(data) => (
        <Stack gap="lg">
          <Text fw={600}>{t.rate(data.rejected, data.messages)}</Text>
          {data.rejected === 0 && <Text c="dimmed" size="sm">{t.noFailures}</Text>}
          <ByField fields={data.by_field} />
          <ByAgent rates={data.by_agent} />
          <Examples examples={data.examples} />
        </Stack>
      )}
    </Shown>
  );
}

function ByField({ fields }: { fields: readonly BrokenFieldView[] }) {
  const t = useTexts(texts);
  const most = Math.max(1, ...fields.map(({ count }) => count));
  if (fields.length === 0) return null;
  return (
    <section>
      <Text fw={600} size="sm" mb="xs">{t.byField}</Text>
      <div className="card" style={{ padding: 14 }}>
        {fields.map(({ path, code, count }) => (
          <div key={`${path} ${code}`} className="bar-row">
            <span><code><AnyText>{path}</AnyText></code> <span className="quiet-code">{code}</span></span>
            <svg width="100%" height="10" preserveAspectRatio="none" viewBox="0 0 100 10" aria-hidden>
              <rect width={(100 * count) / most} height="10" rx="1" fill="var(--state-fail)" opacity="0.75" />
            </svg>
            <b>{count}</b>
          </div>
        ))}
      </div>
    </section>
  );
}

function ByAgent({ rates }: { rates: readonly FailureRateView[] }) {
  const t = useTexts(texts);
  if (rates.length === 0) return null;
  return (
    <section>
      <Text fw={600} size="sm" mb="xs">{t.byAgent}</Text>
      <div className="card" style={{ overflowX: "auto" }}>
        <table className="matrix">
          <thead><tr>{[t.agent, t.model, t.messages, t.rejectedColumn].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {rates.map(({ agent, model, messages, rejected }) => (
              <tr key={`${agent} ${model}`}>
                <td><AnyText>{agent ?? t.unknown}</AnyText></td>
                <td><AnyText>{model ?? "–"}</AnyText></td>
                <td>{messages}</td>
                <td>{rejected} ({Math.round((100 * rejected) / Math.max(1, messages))} %)</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Examples({ examples }: { examples: readonly FailureExampleView[] }) {
  const t = useTexts(texts);
  if (examples.length === 0) return null;
  return (
    <section>
      <Text fw={600} size="sm" mb="xs">{t.examples}</Text>
      <Stack gap={6}>
        {examples.map((example) => (
          <Group key={example.message_id} gap="sm" wrap="nowrap">
            <Anchor component={Link} size="sm" to={addressOf(example)}><AnyText oneLine style={{ maxWidth: 420 }}>{example.text}</AnyText></Anchor>
            <code className="quiet-code">{example.path} {example.code}</code>
            <Text size="xs" c="dimmed" component="span"><TimeAgo at={example.at} /></Text>
          </Group>
        ))}
      </Stack>
    </section>
  );
}

function addressOf({ subject, plan_id, attempt }: FailureExampleView): string {
  if (subject === plan_id) return `/plans/${encodeURIComponent(plan_id)}`;
  return `/tasks/${encodeURIComponent(subject)}?tab=messages&attempt=${attempt}`;
}
