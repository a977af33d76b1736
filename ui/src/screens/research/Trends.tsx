/** How varied the answers to the same request are, run by run. */
import { Group, SimpleGrid, Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { TrendPointView, TrendView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown } from "../../kit";
import { texts } from "./texts";

const WIDTH = 320;
const HEIGHT = 90;
const COLLAPSED_FROM = 0.8;

export function Trends({ agent }: { agent: string }) {
  const t = useTexts(texts);
  const trends = useRead("/v1/research/trends", { query: agent ? { agent } : {} });
  return (
    <Shown query={trends}>
      {({ items, window }) => (
        <Stack gap="md">
          <Text size="sm" c="dimmed">{t.window(window)}</Text>
          <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
            {items.map((trend) => <Trend key={`${trend.agent_id} ${trend.request}`} trend={trend} />)}
          </SimpleGrid>
        </Stack>
      )}
    </Shown>
  );
}

function Trend({ trend }: { trend: TrendView }) {
  const t = useTexts(texts);
  const last = trend.points.at(-1);
  const isCollapsed = trend.runs > 1 && (last?.top_share ?? 0) >= COLLAPSED_FROM;
  const hue = isCollapsed ? "fail" : "done";
  const shares = trend.points.map(({ top_share }) => top_share);
  return (
    <section className="card" style={{ padding: 16 }} aria-label={trend.agent_id}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Text size="sm" fw={600} style={{ minWidth: 0 }}><AnyText oneLine>{trend.agent_id}</AnyText></Text>
        {trend.runs > 1 && (
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
      <line x1={0} x2={WIDTH} y1={y(COLLAPSED_FROM)} y2={y(COLLAPSED_FROM)} stroke="var(--state-fail)" strokeDasharray="4 4" opacity={0.5} />
      <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} stroke="var(--line)" />
      {values.length === 1
        ? <circle cx={WIDTH / 2} cy={y(first)} r={4} fill={`var(--state-${hue})`} />
        : <polyline points={points} fill="none" stroke={`var(--state-${hue})`} strokeWidth={2.2} strokeLinejoin="round" />}
    </svg>
  );
}
