import type { Language } from '../settings.js';

/** What the scripted model says: text, or a call of a tool. */
export type Answer =
  | { readonly say: string }
  | { readonly call: string; readonly id: string; readonly arguments: string };

/** A conversation of a shop's desk, with everything that the demo says. */
export interface Script {
  readonly id: string;
  readonly title: string;
  readonly instructions: string;
  readonly findOrder: string;
  readonly readPolicy: string;
  readonly order: Readonly<Record<string, unknown>>;
  readonly policy: string;
  readonly summary: string;
  /** Three turns; the third is asked again in other words on a branch of its own. */
  readonly questions: readonly [string, string, string];
  readonly retried: string;
  readonly answers: readonly [
    readonly Answer[],
    readonly Answer[],
    readonly Answer[],
    readonly Answer[],
  ];
}

const english: Script = {
  id: 'demo',
  title: 'Refund desk',
  instructions: 'You answer questions about orders of a lamp shop. Be brief. Never promise a date.',
  findOrder: 'Looks an order up by its number.',
  readPolicy: 'Reads the shop policy on a topic.',
  order: {
    id: '8812',
    item: 'Desk lamp, brass',
    status: 'delivered',
    paid: '48.00 EUR',
    carrier: 'parcel, signed for',
  },
  policy:
    'Broken on arrival: refund or replacement, the customer chooses. No return needed below 60 EUR. ' +
    'A photo is asked for and kept with the order. Refunds go to the card that was used. ' +
    'Replacements are sent from stock; when there is none, only a refund is offered.',
  summary:
    'The customer asked about order 8812 (desk lamp, brass, 48.00 EUR). It was delivered and signed for.',
  questions: [
    'Hello! I ordered a lamp, number 8812. Where is it?',
    'It was at my neighbour’s. But the shade is broken. What can I do?',
    'Then please refund it.',
  ],
  retried: 'Then please send me a new one instead.',
  answers: [
    [
      { call: 'find_order', id: 'call_1', arguments: '{"id":"8812"}' },
      { say: 'Your desk lamp was delivered and signed for. Perhaps a neighbour has it?' },
    ],
    [
      { call: 'read_policy', id: 'call_2', arguments: '{"topic":"broken"}' },
      { say: 'I am sorry. You may choose a refund of 48.00 EUR or a new lamp. A photo is enough.' },
    ],
    [
      {
        say: 'I asked for a refund of 48.00 EUR to your card. Please send us a photo of the shade.',
      },
    ],
    [
      {
        say: 'A new brass lamp is on its way from our stock. Please send us a photo of the shade.',
      },
    ],
  ],
};

const chinese: Script = {
  id: 'demo-zh',
  title: '灯具店售后',
  instructions: '你负责回答灯具店的订单问题。回答要简短，不要承诺日期。',
  findOrder: '按订单号查询订单。',
  readPolicy: '查询本店某一主题的规定。',
  order: {
    id: '8812',
    item: '黄铜台灯',
    status: '已签收',
    paid: '368 元',
    carrier: '快递',
  },
  policy:
    '到货破损：退款或换货，由顾客选择。金额低于 500 元无需退回。需要一张照片，随订单保存。' +
    '退款原路退回。换货从库存发出；没有库存时只能退款。',
  summary: '顾客询问订单 8812（黄铜台灯，368 元）。订单已签收。',
  questions: [
    '你好！我买了一盏灯，订单号 8812，现在到哪里了？',
    '原来在邻居家。可是灯罩碎了，怎么办？😕',
    '那请给我退款。',
  ],
  retried: '那请给我换一盏新的。',
  answers: [
    [
      { call: 'find_order', id: 'call_1', arguments: '{"id":"8812"}' },
      { say: '您的台灯已经签收。也许是邻居代收了？' },
    ],
    [
      { call: 'read_policy', id: 'call_2', arguments: '{"topic":"破损"}' },
      { say: '很抱歉。您可以选择退款 368 元，或者换一盏新灯。拍一张照片就可以。' },
    ],
    [{ say: '已为您申请退款 368 元，原路退回。请发给我们一张灯罩的照片。' }],
    [{ say: '新的黄铜台灯已从库存发出。请发给我们一张灯罩的照片。' }],
  ],
};

export const scriptIn = (language: Language): Script => (language === 'zh' ? chinese : english);
