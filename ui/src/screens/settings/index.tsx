/** Settings: of this page, of the project's server, and who is at work. */
import { Group, SegmentedControl, SimpleGrid, Stack, Text, Title, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";

import { useRead } from "../../api/queries";
import { useCaller, useMay } from "../../app/session";
import { type Language, LANGUAGES, useLanguage, useTexts } from "../../i18n";
import { AnyText, Screen } from "../../kit";
import { Keys } from "./Keys";
import { texts } from "./texts";
import { Webhooks } from "./Webhooks";
import { Workers } from "./Workers";

export default function Settings() {
  const t = useTexts(texts);
  const mayManage = useMay("manage");
  const mayRead = useMay("read");
  return (
    <Screen title={t.title} name={t.title}>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <ThisPage />
        <You />
      </SimpleGrid>
      {mayManage && <Keys />}
      {mayManage && <Webhooks />}
      {mayRead && <Workers />}
    </Screen>
  );
}

export function Section({ title, about, action, children }: { title: string; about?: string; action?: ReactNode; children: ReactNode }) {
  return (
    <section className="card" aria-label={title} style={{ padding: 20 }}>
      <Group justify="space-between" align="flex-start" mb="md" gap="md">
        <div>
          <Title order={2} fz={16}>{title}</Title>
          {about && <Text size="sm" c="dimmed" mt={2}>{about}</Text>}
        </div>
        {action}
      </Group>
      {children}
    </section>
  );
}

function ThisPage() {
  const t = useTexts(texts);
  const { language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }));
  const themes = (["light", "dark", "auto"] as const).map((value) => ({ value, label: t[value] }));
  return (
    <Section title={t.page}>
      <Stack gap="sm">
        <Labelled label={t.language}>
          <SegmentedControl aria-label={t.language} data={languages} value={language} onChange={(value) => choose(value as Language)} />
        </Labelled>
        <Labelled label={t.theme}>
          <SegmentedControl aria-label={t.theme} data={themes} value={colorScheme} onChange={(value) => setColorScheme(value as typeof colorScheme)} />
        </Labelled>
      </Stack>
    </Section>
  );
}

function You() {
  const t = useTexts(texts);
  const caller = useCaller();
  const meta = useRead("/v1/meta", {});
  return (
    <Section title={t.you}>
      <Stack gap="sm">
        <Text fw={600}><AnyText>{t.youAre(caller.name, caller.role)}</AnyText></Text>
        <Labelled label={t.rights}><Text size="sm">{caller.rights.join(", ")}</Text></Labelled>
        <Labelled label={t.project}><Text size="sm"><AnyText>{caller.project}</AnyText></Text></Labelled>
        {meta.data && <Labelled label={t.version}><Text size="sm">accordance {meta.data.version}</Text></Labelled>}
      </Stack>
    </Section>
  );
}

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group gap="md" wrap="wrap">
      <Text size="sm" c="dimmed" w={90}>{label}</Text>
      {children}
    </Group>
  );
}
