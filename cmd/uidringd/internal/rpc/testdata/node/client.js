// node client.js ADDRESS PROTO draws ids by gRPC and prints them.
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [address, proto] = process.argv.slice(2);
const definition = loader.loadSync(proto, { longs: String });
const { IdService } = grpc.loadPackageDefinition(definition).uidring.v1;
const client = new IdService(address, grpc.credentials.createInsecure());
const token = new grpc.Metadata();
token.set("authorization", "Bearer node");

const call = (method, request) =>
  new Promise((resolve, reject) =>
    client[method](request, token, (err, answer) => (err ? reject(err) : resolve(answer))));

(async () => {
  const answers = await Promise.all([...Array(20)].map(() => call("Next", { name: "ids", n: 100 })));
  for (const { ids } of answers) ids.forEach((id) => console.log(id));
  const { runs } = await call("Runs", { name: "ids", n: 1000 });
  for (const { first, count } of runs) {
    for (let i = 0n; i < BigInt(count); i++) console.log(String(BigInt(first) + i));
  }
  const refused = await call("Next", { name: "nosuch" }).catch((err) => err);
  if (refused.code !== grpc.status.NOT_FOUND) throw new Error(`an unknown name: ${refused}`);
  client.close();
})();
