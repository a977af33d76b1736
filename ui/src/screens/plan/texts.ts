import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Plan", "zh-CN": "计划", ko: "계획" },
});
