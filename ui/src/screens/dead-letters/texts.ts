import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Dead letters", "zh-CN": "死信", ko: "데드 레터" },
});
