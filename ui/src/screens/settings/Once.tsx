/** What is shown this once, to be copied. */
import { Button, CopyButton, Group, Stack, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

import { useTexts } from "../../i18n";
import { texts as kitTexts } from "../../kit/texts";

export function Once({ value, about }: { value: string; about: string }) {
  const t = useTexts(kitTexts);
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>{about}</Text>
      <Group gap="xs" wrap="nowrap">
        <code className="once" data-once>{value}</code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy} leftSection={copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}>
              {copied ? t.copied : t.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Stack>
  );
}
