
// What a page would do with the client above: wait until it is connected, send, and read its own log.
const [from, to] = process.argv.slice(2);
const print = console.log;
const bothHeard = new Promise((resolve) => {
  let heard = 0;
  console.log = (line) => {
    print(line);
    if (++heard === 2) resolve();
  };
});
ws.onerror = () => process.exit(1);
ws.onopen = async () => {
  print(JSON.stringify(await sendMessage(from, to, 'Hello from Node!')));
  print(JSON.stringify(await sendMessage(from, 'broadcast', 'Hello, everybody!')));
  await bothHeard;
  ws.close();
};
