/** Tests by name, before the change and after it. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { useRead } from "../../api/queries";
import type { ComparedTestView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Code, Shown } from "../../kit";
import type { TabProps } from ".";
import { texts } from "./texts";

const PAGE = 200;
const HUES: Readonly<Record<string, string>> = {
  fail_to_pass: "done", added_passing: "done", pass_to_fail: "fail", added_failing: "fail", removed: "ask", pass_to_skip: "ask",
};

export default function Tests({ task, attempt }: TabProps) {
  const t = useTexts(texts);
  const [offset, setOffset] = useState(0);
  const query = { offset, limit: PAGE, ...(attempt !== null && { attempt }) };
  const tests = useRead("/v1/tasks/{task}/tests", { params: { task: task.task_id }, query }, { keepPrevious: true });
  if (tests.error?.status === 404) return <Text c="dimmed">{t.noTests}</Text>;
  return (
    <Shown query={tests}>
      {(data) => {
        if (data.total === 0) return <Text c="dimmed">{t.noTests}</Text>;
        const end = offset + data.items.length;
        return (
          <Stack gap="md">
            <Counts counts={data.counts} />
            <div className="card" style={{ overflowX: "auto" }}>
              <table className="matrix tests">
                <thead>
                  <tr><th scope="col">{t.test}</th>{data.is_compared && <th scope="col">{t.before}</th>}<th scope="col">{t.after}</th><th scope="col" /></tr>
                </thead>
                <tbody>{data.items.map((test) => <Row key={test.test} test={test} isCompared={data.is_compared} />)}</tbody>
              </table>
            </div>
            {data.total > PAGE && (
              <Group justify="space-between">
                <Button variant="default" size="compact-sm" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>{t.olderPage}</Button>
                <Text size="sm" c="dimmed">{offset + 1}–{end} / {data.total}</Text>
                <Button variant="default" size="compact-sm" disabled={end >= data.total} onClick={() => setOffset(offset + PAGE)}>{t.newerPage}</Button>
              </Group>
            )}
          </Stack>
        );
      }}
    </Shown>
  );
}

function Counts({ counts }: { counts: Readonly<Record<string, number>> }) {
  const words = useChangeWords();
  return (
    <Group gap="xs">
      {Object.entries(counts).filter(([, count]) => count > 0).map(([change, count]) => (
        <span key={change} className="pill" style={styleOf(change)}>{count} {words(change)}</span>
      ))}
    </Group>
  );
}

function Row({ test, isCompared }: { test: ComparedTestView; isCompared: boolean }) {
  const words = useChangeWords();
  return (
    <tr>
      <th scope="row">
        {test.why === "" ? <AnyText>{test.test}</AnyText> : (
          <details>
            <summary><AnyText>{test.test}</AnyText></summary>
            <Code text={test.why} label={test.test} height={240} />
          </details>
        )}
      </th>
      {isCompared && <td>{test.before ?? "–"}</td>}
      <td>{test.after ?? "–"}</td>
      <td>{test.change && <span className="pill" style={styleOf(test.change)}>{words(test.change)}</span>}</td>
    </tr>
  );
}

function useChangeWords(): (change: string) => string {
  const t = useTexts(texts) as Readonly<Record<string, unknown>>;
  return (change) => {
    if (change === "" || change === "pass_to_pass") return String(t["unchanged"]);
    return typeof t[change] === "string" ? (t[change] as string) : change.replaceAll("_", " ");
  };
}

function styleOf(change: string) {
  const hue = HUES[change] ?? "idle";
  return { color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` };
}
