import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Contracts", "zh-CN": "契约", ko: "계약" },
});
