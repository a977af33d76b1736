import { Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { OutcomeCountView, SpendingByView } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useLanguage, useTexts } from "../../i18n";
import { Duration } from "../../kit";
import { texts } from "./texts";

const MOST_REASONS = 8;

/** What the statistics say beside the list: reasons of refusals, and what the work took. */
export function Numbers() {
  const mayRead = useMay("read");
  const statistics = useRead("/v1/statistics", {}, { enabled: mayRead });
  if (!statistics.data || statistics.data.plans === 0) return null;
  return (
    <aside style={{ display: "grid", gap: 16, alignContent: "start" }}>
      <Reasons outcomes={statistics.data.outcomes} />
      <Spent spending={statistics.data.spending} />
    </aside>
  );
}

function Reasons({ outcomes }: { outcomes: readonly OutcomeCountView[] }) {
  const t = useTexts(texts);
  const rows = refusals(outcomes).slice(0, MOST_REASONS);
  const most = Math.max(1, ...rows.map((row) => row.count));
  return (
    <section className="card" style={{ padding: 18 }}>
      <h2 className="card-title">{t.reasons}</h2>
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.noReasons}
        </Text>
      )}
      <ul className="bare-list" style={{ gap: 10 }}>
        {rows.map(({ reason, count }) => (
          <li key={reason}>
            <div style={{ display: "flex", justifyContent: "space-between", gap: 12 }}>
              <code className="reason">{reason}</code>
              <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                {t.times(count)}
              </Text>
            </div>
            <div className="meter">
              <div style={{ width: `${(100 * count) / most}%` }} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How often each reason led to something else than done, the most frequent first. */
function refusals(outcomes: readonly OutcomeCountView[]): { reason: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { outcome, reason_code, count } of outcomes) {
    if (outcome === "DONE") continue;
    counts.set(reason_code, (counts.get(reason_code) ?? 0) + count);
  }
  const rows = [...counts].map(([reason, count]) => ({ reason, count }));
  return rows.sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}

function Spent({ spending }: { spending: readonly SpendingByView[] }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const number = new Intl.NumberFormat(language, { notation: "compact" });
  const named = spending.filter((row) => row.agent ?? row.model);
  if (named.length === 0) return null;
  return (
    <section className="card" style={{ padding: 18 }}>
      <h2 className="card-title">{t.spent}</h2>
      <ul className="bare-list" style={{ gap: 12 }}>
        {named.slice(0, MOST_REASONS).map((row) => (
          <li key={`${row.agent} ${row.model}`} style={{ fontSize: 13 }}>
            <div style={{ fontWeight: 600 }}>{row.agent ?? row.model}</div>
            <Text size="xs" c="dimmed" component="div">
              {row.agent && row.model ? `${row.model} · ` : ""}
              {t.runsCounted(row.runs)}
              {" · "}
              <Duration seconds={row.seconds} />
              {row.tokens > 0 && ` · ${number.format(row.tokens)} ${t.tokens}`}
              {row.cost !== null && row.cost > 0 && ` · $${row.cost.toFixed(2)}`}
            </Text>
          </li>
        ))}
      </ul>
    </section>
  );
}
