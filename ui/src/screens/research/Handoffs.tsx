/** The handoffs of a plan: who goes on after whom, from left to right. */
import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "react-router";

import { usePages, useRead } from "../../api/queries";
import type { HandoffChainView, HandoffNodeView, State } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Select, Shown, StateBadge, useParam } from "../../kit";
import { texts } from "./texts";

export function Handoffs() {
  const t = useTexts(texts);
  const [chosen, setPlan] = useParam("plan");
  const plans = usePages("/v1/plans", { query: { limit: 200 } });
  const plan = chosen || plans.items[0]?.plan_id || "";
  return (
    <Stack gap="md">
      <Select
        label={t.plan}
        placeholder={t.choosePlan}
        maw={420}
        data={plans.items.map(({ plan_id, title }) => ({ value: plan_id, label: title || plan_id }))}
        value={plan}
        onChange={setPlan}
      />
      {plan && <Chain plan={plan} />}
    </Stack>
  );
}

function Chain({ plan }: { plan: string }) {
  const t = useTexts(texts);
  const chain = useRead("/v1/plans/{plan}/handoffs", { params: { plan } });
  return (
    <Shown query={chain}>
      {(data) => {
        if (data.nodes.length === 0) return <Text c="dimmed">{t.noHandoffs}</Text>;
        return (
          <ol className="chain">
            {columnsOf(data).map((nodes, index) => (
              <li key={index}>{nodes.map((node) => <Node key={node.task_id} node={node} />)}</li>
            ))}
          </ol>
        );
      }}
    </Shown>
  );
}

function Node({ node }: { node: HandoffNodeView }) {
  const t = useTexts(texts);
  return (
    <div className="card" style={{ padding: 12 }}>
      <Text size="xs" c="dimmed"><AnyText>{node.agent_id}</AnyText></Text>
      <Anchor component={Link} size="sm" to={`/tasks/${encodeURIComponent(node.task_id)}`}><AnyText>{node.title}</AnyText></Anchor>
      <div style={{ marginTop: 6 }}><StateBadge state={node.state as State} small /></div>
      {node.received_from.length > 0 && <Text size="xs" c="dimmed" mt={4}>{t.receivedFrom} <AnyText>{node.received_from.join(", ")}</AnyText></Text>}
    </div>
  );
}

/** Tasks by how many handoffs lie before them. */
export function columnsOf({ nodes, edges }: HandoffChainView): readonly (readonly HandoffNodeView[])[] {
  const depth = new Map(nodes.map(({ task_id }) => [task_id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let isStable = true;
    for (const [from, to] of edges) {
      const wanted = (depth.get(from) ?? 0) + 1;
      if (wanted > (depth.get(to) ?? 0) && wanted < nodes.length) {
        depth.set(to, wanted);
        isStable = false;
      }
    }
    if (isStable) break;
  }
  const last = Math.max(0, ...depth.values());
  return Array.from({ length: last + 1 }, (_, column) => nodes.filter(({ task_id }) => depth.get(task_id) === column));
}
