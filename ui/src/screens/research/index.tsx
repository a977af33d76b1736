import { useTexts } from "../../i18n";
import { Screen } from "../../kit";
import { texts } from "./texts";

export default function Research() {
  const t = useTexts(texts);
  return (
    <Screen title={t.title} name={t.title}>
      {null}
    </Screen>
  );
}
