import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Runs", "zh-CN": "运行", ko: "실행" },
});
