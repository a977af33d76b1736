/** How varied the answers to the same request are, run by run. */
import { Group, SimpleGrid, Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { TrendPointView, TrendView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown } from "../../kit";
import { texts } from "./texts";

const WIDTH = 320;
const HEIGHT = 90;

export function Trends({ agent }: { agent: string }) {
  const t = useTexts(texts);
  const query = agent ? { agent } : {};
  const trends = useRead("/v1/research/trends", { query });
  const reports = useRead("/v1/research/collapse", { query });
  const statusOf = ({ agent_id, request }: TrendView) =>
    reports.data?.items.find((report) => report["agent_id"] === agent_id && report["request"] === request)?.["status"];
  return (
    <Shown query={trends}>
      {({ items, window }) => (
        <Stack gap="md">
          <Text size="sm" c="dimmed">{t.window(window)}</Text>
          <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
            {items.map((trend) => <Trend key={`${trend.agent_id} ${trend.request}`} trend={trend} status={statusOf(trend)} />)}
          </SimpleGrid>
        </Stack>
      )}
    </Shown>
  );
}

function Trend({ trend, status }: { trend: TrendView; status: unknown }) {
  const t = useTexts(texts);
  const last = trend.points.at(-1);
  const isCollapsed = status === "collapsed";
  const hue = isCollapsed ? "fail" : "done";
  const shares = trend.points.map(({ top_share }) => top_share);
  return (
    <section className="card" style={{ padding: 16 }} aria-label={trend.agent_id}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Text size="sm" fw={600} style={{ minWidth: 0 }}><AnyText oneLine>{trend.agent_id}</AnyText></Text>
        {(isCollapsed || status === "diverse") && (
          <span className="pill" style={{ color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` }}>{isCollapsed ? t.collapsed : t.diverse}</span>
        )}
      </Group>
      <Line label={t.topShare} values={shares} most={1} hue={hue} />
      <Text size="xs" c="dimmed" component="div">
        {t.runs(trend.runs)} · <code>{trend.request.slice(0, 12)}</code>
        {last && <> · {t.entropy} {last.entropy_bits.toFixed(2)}</>}
      </Text>
      {last && <Text size="xs" c="dimmed" component="div">{t.last}: <AnyText>{last.selected}</AnyText></Text>}
    </section>
  );
}

function Line({ label, values, most, hue }: { label: string; values: readonly TrendPointView["top_share"][]; most: number; hue: string }) {
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const y = (value: number) => HEIGHT - 6 - (value / most) * (HEIGHT - 12);
  const points = values.map((value, index) => `${index * step},${y(value)}`).join(" ");
  const first = values[0] ?? 0;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="img" aria-label={`${label}: ${values.map((value) => value.toFixed(2)).join(", ")}`}>
      <line x1={0} x2={WIDTH} y1={y(most)} y2={y(most)} stroke="var(--line)" strokeDasharray="4 4" />
      <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} stroke="var(--line)" />
      {values.length === 1
        ? <circle cx={WIDTH / 2} cy={y(first)} r={4} fill={`var(--state-${hue})`} />
        : <polyline points={points} fill="none" stroke={`var(--state-${hue})`} strokeWidth={2.2} strokeLinejoin="round" />}
    </svg>
  );
}
