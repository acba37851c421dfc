export { openBotSandbox, type BotSandboxOptions } from './bot-sandbox.js'
