/** What a contract demands: its fields, its rules, and the spellings that are normalised. */
import { Stack, Text } from "@mantine/core";

import { useRead } from "../../api/queries";
import { useTexts } from "../../i18n";
import { AnyText, Shown } from "../../kit";
import { texts } from "./texts";

export function Demands({ contract }: { contract: string }) {
  const t = useTexts(texts);
  const detail = useRead("/v1/contracts/{name}", { params: { name: contract } });
  return (
    <Shown query={detail}>
      {({ fields, rules, normalised }) => (
        <Stack gap="lg">
          <div className="card" style={{ overflowX: "auto" }}>
            <table className="matrix tests">
              <thead><tr><th scope="col">{t.field}</th><th scope="col" /><th scope="col">{t.expected}</th></tr></thead>
              <tbody>
                {fields.map((field, index) => (
                  <tr key={index}>
                    <th scope="row">{textOf(field["path"])}</th>
                    <td><Text size="xs" c={field["required"] ? undefined : "dimmed"}>{field["required"] ? t.required : t.optional}</Text></td>
                    <td><AnyText>{textOf(field["expected"])}</AnyText></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {rules.length > 0 && (
            <section>
              <Text fw={600} size="sm">{t.rules}</Text>
              <ul className="plain-list">{rules.map((rule, index) => <li key={index}><AnyText>{textOf(rule["text"])}</AnyText></li>)}</ul>
            </section>
          )}
          {normalised.length > 0 && (
            <section>
              <Text fw={600} size="sm">{t.normalised}</Text>
              <ul className="plain-list">
                {normalised.map((row, index) => (
                  <li key={index}>
                    <code>{textOf(row["path"])}</code> <AnyText>{textOf(row["canonical"])}</AnyText>{" ← "}
                    <Text span size="sm" c="dimmed"><AnyText>{listOf(row["aliases"])}</AnyText></Text>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </Stack>
      )}
    </Shown>
  );
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(", ") : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
