/** Research agents: how typical their options are, whether they collapse, who goes on after whom. */
import { Group, Tabs } from "@mantine/core";

import { useRead } from "../../api/queries";
import { useTexts } from "../../i18n";
import { EmptyState, Screen, Select, Shown, useParam } from "../../kit";
import { Handoffs } from "./Handoffs";
import { texts } from "./texts";
import { Trends } from "./Trends";
import { TScores } from "./TScores";

const COMMAND = "accordance research record answer.json";

export default function Research() {
  const t = useTexts(texts);
  const [tab, setTab] = useParam("tab", "scores");
  const [agent, setAgent] = useParam("agent");
  const runs = useRead("/v1/research/runs", { query: { limit: 1000 } });
  return (
    <Screen title={t.title} name={t.title} about={t.about}>
      <Shown query={runs}>
        {({ items }) => {
          const agents = [...new Set(items.map(({ agent_id }) => agent_id))].toSorted();
          const isEmpty = agents.length === 0;
          return (
            <Tabs value={tab} onChange={(value) => setTab(value ?? "scores")} keepMounted={false}>
              <Group justify="space-between" align="flex-end" gap="sm">
                <Tabs.List aria-label={t.parts}>
                  <Tabs.Tab value="scores">{t.scores}</Tabs.Tab>
                  <Tabs.Tab value="trends">{t.trends}</Tabs.Tab>
                  <Tabs.Tab value="handoffs">{t.handoffs}</Tabs.Tab>
                </Tabs.List>
                {tab !== "handoffs" && !isEmpty && (
                  <Select size="xs" w={240} aria-label={t.agent} placeholder={t.allAgents} data={agents} value={agent} onChange={setAgent} />
                )}
              </Group>
              <Tabs.Panel value="scores" pt="md">{isEmpty ? <Nothing /> : <TScores agent={agent} />}</Tabs.Panel>
              <Tabs.Panel value="trends" pt="md">{isEmpty ? <Nothing /> : <Trends agent={agent} />}</Tabs.Panel>
              <Tabs.Panel value="handoffs" pt="md"><Handoffs /></Tabs.Panel>
            </Tabs>
          );
        }}
      </Shown>
    </Screen>
  );
}

function Nothing() {
  const t = useTexts(texts);
  return <EmptyState title={t.none} command={COMMAND}>{t.noneAbout}</EmptyState>;
}
