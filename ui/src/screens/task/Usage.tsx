/** What each attempt has cost: time, tokens, money. */
import { Text } from "@mantine/core";

import { useTexts } from "../../i18n";
import { AnyText, Duration, TimeAgo } from "../../kit";
import type { TabProps } from ".";
import { Outcome } from "./outcomes";
import { texts } from "./texts";

export function Usage({ task }: TabProps) {
  const t = useTexts(texts);
  if (task.attempts.length === 0) return <Text c="dimmed">{t.noAttempts}</Text>;
  return (
    <div className="card" style={{ overflowX: "auto" }}>
      <table className="matrix tests">
        <thead>
          <tr>
            {[t.attempts, t.outcome, t.executor, t.model, t.began, t.time, t.tokens, t.calls, t.cost].map((name) => <th key={name} scope="col">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {task.attempts.map((each) => (
            <tr key={each.attempt}>
              <th scope="row">{each.attempt}</th>
              <td><Outcome outcome={each.outcome} /></td>
              <td><AnyText>{each.executor ?? each.holder ?? "–"}</AnyText></td>
              <td><AnyText>{each.model ?? "–"}</AnyText></td>
              <td><TimeAgo at={each.began_at} /></td>
              <td>{each.seconds === null ? "–" : <Duration seconds={each.seconds} />}</td>
              <td>{each.spent ? each.spent.tokens.toLocaleString() : "–"}{each.spent?.estimated && ` (${t.estimated})`}</td>
              <td>{each.spent?.calls ?? "–"}</td>
              <td>{each.spent ? (each.spent.cost === null ? t.unknownCost : `$${each.spent.cost.toFixed(4)}`) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
