import { Button } from "@mantine/core";

import { useTexts } from "../../i18n";
import { EmptyState } from "../../kit";
import { texts } from "./texts";

export function NoTasks({ onClear }: { onClear: () => void }) {
  const t = useTexts(texts);
  return (
    <EmptyState title={t.noTasks}>
      <Button variant="light" onClick={onClear}>
        {t.clear}
      </Button>
    </EmptyState>
  );
}
