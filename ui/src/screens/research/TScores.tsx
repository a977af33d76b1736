/** The options of each answer on the line from unusual to typical. */
import { Group, Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { OptionView, TScorePlotListView, TScorePlotView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown, TimeAgo } from "../../kit";
import { texts } from "./texts";

const ROW = 26;
const HUES: Readonly<Record<string, string>> = { modal: "fail", established: "ask", emerging: "ready", creative: "done" };

export function TScores({ agent }: { agent: string }) {
  const t = useTexts(texts);
  const plots = useRead("/v1/research/t-scores", { query: { limit: 100, ...(agent && { agent }) } });
  return (
    <Shown query={plots}>
      {(data) => (
        <Stack gap="md">
          <Legend bands={data.bands} />
          {data.is_cut && <Text size="sm" c="dimmed">{t.cut}</Text>}
          {data.items.map((plot) => <Plot key={`${plot.agent_id} ${plot.request} ${plot.at}`} plot={plot} bands={data.bands} />)}
        </Stack>
      )}
    </Shown>
  );
}

type Bands = TScorePlotListView["bands"];

function Legend({ bands }: { bands: Bands }) {
  const t = useTexts(texts);
  const words = useClassWords();
  return (
    <Group gap="md" fz="xs" c="dimmed">
      <span>{t.typical}</span>
      {bands.map(([from, to, name]) => (
        <span key={name} className="legend"><i style={{ background: `var(--state-${HUES[name] ?? "idle"})` }} />{words(name)} {from}–{to}</span>
      ))}
    </Group>
  );
}

function Plot({ plot, bands }: { plot: TScorePlotView; bands: Bands }) {
  return (
    <section className="card" style={{ padding: 16 }} aria-label={plot.agent_id}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" fw={600}><AnyText>{plot.agent_id}</AnyText></Text>
        <Text size="xs" c="dimmed" component="div"><code>{plot.request.slice(0, 12)}</code> · <TimeAgo at={plot.at} /></Text>
      </Group>
      <div className="t-scores">
        {plot.options.map((option) => <Option key={option.option} option={option} bands={bands} />)}
      </div>
    </section>
  );
}

function Option({ option, bands }: { option: OptionView; bands: Bands }) {
  const t = useTexts(texts);
  const words = useClassWords();
  const { t_score: score, t_class: name } = option;
  const hue = HUES[name] ?? "idle";
  return (
    <div className="t-score" title={option.rationale} data-selected={option.is_selected}>
      <div style={{ minWidth: 0 }}>
        <AnyText oneLine style={{ maxWidth: "100%", fontWeight: option.is_selected ? 650 : 450 }}>{option.option}</AnyText>
      </div>
      <svg width="100%" height={ROW} role="img" aria-label={`${score.toFixed(2)} ${words(name)}`}>
        {bands.map(([from, to, band]) => (
          <rect key={band} x={`${from * 100}%`} width={`${(to - from) * 100}%`} y={ROW / 2 - 3} height={6} fill={`var(--state-${HUES[band] ?? "idle"}-soft)`} />
        ))}
        <circle cx={`${score * 100}%`} cy={ROW / 2} r={option.is_selected ? 7 : 5} fill={`var(--state-${hue})`} stroke="var(--surface)" strokeWidth={2} />
      </svg>
      <span className="t-number">{score.toFixed(2)}{option.is_selected && <span> · {t.selected}</span>}</span>
    </div>
  );
}

function useClassWords(): (name: string) => string {
  const t = useTexts(texts) as Readonly<Record<string, unknown>>;
  return (name) => (typeof t[name] === "string" ? (t[name] as string) : name);
}
