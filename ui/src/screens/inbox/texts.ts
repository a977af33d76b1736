import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Inbox", "zh-CN": "收件箱", ko: "받은 질문" },
});
