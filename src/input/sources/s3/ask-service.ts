// Sends a request to a service that issues credentials.

import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Question {
  readonly method?: 'GET' | 'PUT' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

const attemptsUsually = 3;
const pauseMs = 200;
const answerCharactersMax = 65_536;

/** Repeats a request after errors of server or network. Throws `fetch`'s last error. */
export const askService = async (
  url: string,
  { timeoutMs, ...init }: Question,
  attempts = attemptsUsually,
): Promise<Answer> => {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === attempts;
    try {
      const response = await fetch(url, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = (await response.text()).slice(0, answerCharactersMax);
      if (isLast || response.status < 500) return { status: response.status, text };
    } catch (error) {
      if (isLast) throw error;
    }
    await sleep(pauseMs * attempt);
  }
};
