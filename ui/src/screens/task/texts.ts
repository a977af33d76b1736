import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Task", "zh-CN": "任务", ko: "작업" },
});
