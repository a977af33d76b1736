import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Settings", "zh-CN": "设置", ko: "설정" },
});
