/** Contracts: what each demands, how often it was broken, and a box that checks a message. */
import { Tabs, Text } from "@mantine/core";
import { useNavigate, useParams } from "react-router";

import { useRead } from "../../api/queries";
import type { ContractEntryView } from "../../api/schema.gen";
import { useMay } from "../../app/session";
import { useTexts } from "../../i18n";
import { AnyText, Screen, Shown, useListKeys, useParam } from "../../kit";
import { CheckBox } from "./CheckBox";
import { Demands } from "./Demands";
import { Failures } from "./Failures";
import { Schema } from "./Schema";
import { texts } from "./texts";

export default function Contracts() {
  const t = useTexts(texts);
  const contracts = useRead("/v1/contracts", {});
  return (
    <Screen title={t.title} name={t.title} about={t.about}>
      <Shown query={contracts}>{({ items }) => <Chosen contracts={items} />}</Shown>
    </Screen>
  );
}

function Chosen({ contracts }: { contracts: readonly ContractEntryView[] }) {
  const t = useTexts(texts);
  const { contract: name } = useParams();
  const navigate = useNavigate();
  const current = contracts.find(({ version, names }) => version === name || names.includes(name ?? "")) ?? contracts[0];
  const open = (version: string) => void navigate(`/contracts/${encodeURIComponent(version)}`);
  const { selected } = useListKeys(contracts.map(({ version }) => version), {
    labels: { next: t.next, previous: t.previous, open: t.openIt },
    open,
  });
  if (!current) return null;
  return (
    <div className="contracts">
      <nav className="card" aria-label={t.list} style={{ padding: "6px 0" }}>
        {contracts.map(({ version, name: title }) => (
          <button
            key={version}
            type="button"
            className="row-link contract-link"
            data-item={version}
            data-selected={version === (selected ?? current.version)}
            aria-current={version === current.version}
            onClick={() => open(version)}
          >
            <AnyText>{title}</AnyText>
            <Text size="xs" c="dimmed"><AnyText>{version}</AnyText></Text>
          </button>
        ))}
      </nav>
      <Contract key={current.version} contract={current} />
    </div>
  );
}

function Contract({ contract }: { contract: ContractEntryView }) {
  const t = useTexts(texts);
  const mayRead = useMay("read");
  const [tab, setTab] = useParam("tab", "check");
  const others = contract.names.filter((name) => name !== contract.version);
  return (
    <section aria-label={contract.version} style={{ minWidth: 0 }}>
      <Text fw={620} fz={18}><AnyText>{contract.version}</AnyText></Text>
      <Text size="sm"><AnyText>{contract.about}</AnyText></Text>
      <Text size="xs" c="dimmed" mt={4} mb="md">
        {[t.versions(others.join(", ")), contract.closed ? t.closed : t.open].join(" · ")}
      </Text>
      <Tabs value={tab} onChange={(value) => setTab(value ?? "check")} keepMounted={false}>
        <Tabs.List aria-label={t.parts}>
          <Tabs.Tab value="check">{t.check}</Tabs.Tab>
          <Tabs.Tab value="demands">{t.demands}</Tabs.Tab>
          <Tabs.Tab value="schema">{t.schema}</Tabs.Tab>
          {mayRead && <Tabs.Tab value="failures">{t.failures}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="check" pt="md"><CheckBox contract={contract.version} /></Tabs.Panel>
        <Tabs.Panel value="demands" pt="md"><Demands contract={contract.version} /></Tabs.Panel>
        <Tabs.Panel value="schema" pt="md"><Schema contract={contract.version} /></Tabs.Panel>
        {mayRead && <Tabs.Panel value="failures" pt="md"><Failures contract={contract.version} /></Tabs.Panel>}
      </Tabs>
    </section>
  );
}
