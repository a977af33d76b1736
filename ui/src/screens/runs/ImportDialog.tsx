import {
  Button,
  Checkbox,
  FileButton,
  Group,
  Modal,
  Stack,
  Text,
  Textarea,
} from "@mantine/core";
import { useState } from "react";
import { useNavigate } from "react-router";

import { useAct } from "../../api/queries";
import { useTexts } from "../../i18n";
import { ErrorPanel, Select, tell } from "../../kit";
import { texts } from "./texts";

const FORMATS = ["yaml", "json", "toml", "md"] as const;
type Format = (typeof FORMATS)[number];

function formatOf(name: string): Format | null {
  const ending = name.split(".").pop()?.toLowerCase() ?? "";
  if (ending === "yml") return "yaml";
  return FORMATS.find((format) => format === ending) ?? null;
}

/** Brings a plan in, after a preview of what it would begin with. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [format, setFormat] = useState<Format>("yaml");
  const [isReviewed, setReviewed] = useState(true);
  const preview = useAct("/v1/plans/preview");
  const bring = useAct("/v1/plans");

  const change = (wanted: string) => {
    setText(wanted);
    preview.reset();
    bring.reset();
  };
  const readFile = (file: File | null) => {
    if (!file) return;
    const known = formatOf(file.name);
    if (known) setFormat(known);
    void file.text().then(change);
  };
  const sent = { query: { format }, body: text, contentType: "text/plain" };
  const bringIn = () =>
    bring.mutate(
      { ...sent, query: { format, review: isReviewed } },
      {
        onSuccess: (plan) => {
          tell(t.imported2);
          onClose();
          void navigate(`/plans/${encodeURIComponent(plan.plan_id)}`);
        },
      },
    );
  const error = bring.error ?? preview.error;
  return (
    <Modal opened={opened} onClose={onClose} title={t.import} size="lg">
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t.importAbout}
        </Text>
        <Group align="flex-end">
          <Select
            label={t.format}
            data={[...FORMATS]}
            value={format}
            w={120}
            onChange={(value) => setFormat(value as Format)}
          />
          <FileButton onChange={readFile} accept=".json,.yaml,.yml,.toml,.md">
            {(props) => (
              <Button variant="default" {...props}>
                {t.chooseFile}
              </Button>
            )}
          </FileButton>
        </Group>
        <Textarea
          label={t.document}
          value={text}
          rows={12}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
          onChange={(event) => change(event.currentTarget.value)}
        />
        {error && <ErrorPanel error={error} />}
        {preview.data && (
          <Text size="sm" role="status">
            {t.previewSays(preview.data.nodes, preview.data.edges, preview.data.ready.length)}{" "}
            {preview.data.repairs.length > 0 && t.repaired(preview.data.repairs.length)}
          </Text>
        )}
        <Group justify="space-between">
          <Checkbox
            label={t.withReview}
            checked={isReviewed}
            onChange={(event) => setReviewed(event.currentTarget.checked)}
          />
          <Group gap="xs">
            <Button
              variant="default"
              disabled={!text.trim()}
              loading={preview.isPending}
              onClick={() => preview.mutate(sent)}
            >
              {t.preview}
            </Button>
            <Button disabled={!preview.data} loading={bring.isPending} onClick={bringIn}>
              {t.importNow}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Modal>
  );
}
