import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Research", "zh-CN": "研究", ko: "연구" },
});
